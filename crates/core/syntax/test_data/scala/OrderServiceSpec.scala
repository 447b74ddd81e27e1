package com.acme.orders

import com.acme.orders.model.Order
import org.scalatest.flatspec.AnyFlatSpec
import org.scalatest.matchers.should.Matchers

class OrderServiceSpec extends AnyFlatSpec with Matchers {
  private val repository = mock[OrderRepository]
  private val service = new OrderService(repository)

  "An order service" should "find orders" in {
    val order = Order(1)
    repository.find(order.id) returns order
    service.find(order.id) shouldBe Some(order)
  }

  it should "refuse" in {
    assertThrows[OrderException] {
      service.parse("x")
    }
  }
}

class OrderSuite extends munit.FunSuite {
  test("orders are equal") {
    assertEquals(Orders.first, Orders.first)
  }

  override def beforeAll(): Unit = Registry.reset()

  private object Orders {
    lazy val first: Order = new Order(1) {
      override def total: Money = Money.Zero
    }
  }
}

trait Fixtures {
  protected val clock: Clock
  def orders: Seq[Order] = Seq(Order(1), Order(2))
}

object Fixtures extends Fixtures {
  override protected val clock: Clock = new FixedClock(0)
}

/** Orders without a store. */
class MemoryRepository[T <: Entity](initial: Map[OrderId, T])(using codec: Codec[T]) extends Repository[T] {
  import scala.collection.mutable

  private val items: mutable.Map[OrderId, T] = mutable.Map.from(initial)

  def put(item: T): Unit = synchronized {
    items.update(item.id, codec.copy(item))
  }

  def get(id: OrderId): Option[T] = items.get(id) match {
    case Some(found: T @unchecked) => Some(found)
    case _                         => None
  }
}
