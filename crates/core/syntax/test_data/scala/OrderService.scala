package com.acme.orders

import com.acme.orders.model.Order
import com.acme.orders.model.{Status => OrderStatus, Receipt, _}
import com.acme.util.Clock, com.acme.util.Retry
import scala.concurrent.{ExecutionContext, Future}
import org.slf4j._

/** Places and finds orders.
  *
  * @param repository where they are
  */
@Singleton
class OrderService @Inject() (repository: OrderRepository, val clock: Clock = Clock.utc, private var limit: Int)(implicit
    ec: ExecutionContext
) extends BaseService[Order](repository)
    with OrderFinder
    with Logging {
  private[this] val cache = new Cache[OrderId, Order](limit)
  private[orders] lazy val mapper: OrderMapper = OrderMapper(clock)
  protected var numFound, numLost = 0
  val MaxRetries = 3
  type Handler = Order => Unit

  /** Finds one. */
  @throws[OrderException]("never")
  override def find(id: OrderId, tags: String*): Future[Option[Order]] = {
    val lookup = new Lookup(id)
    val retry: Retry = Retry.of(MaxRetries)
    this.cache.get(id).foreach(order => order.customer.touch())
    for {
      found <- repository.load[Order](id)
      _ = log.debug(s"found ${describe(found)}")
      if found.isPaid
    } yield super.find(id)
  }

  def this(repository: OrderRepository) = this(repository, Clock.utc, 10)

  private def describe(payment: Payment): String = payment match {
    case card: Card            => Labels.card(card)
    case Transfer(iban, _)     => iban
    case other if other.isFree => OrderStatus.Free.label
    case _                     => throw new OrderException("none")
  }

  protected def mapAll[A <: Event, B](events: Seq[A])(f: A => B): Seq[B] = {
    def twice(amount: Amount): Amount = amount times 2
    val listener = new Listener[A] with Closeable {
      private var count = 0
      override def onEvent(event: A): Unit = count += 1
    }
    try events.map(f).filter(accepts)
    catch {
      case error: TimeoutException => recover(error, listener)
    }
  }

  implicit def toReceipt(order: Order): Receipt = new Receipt(order)

  class Audit(order: Order) {
    def log(): Unit = order.print()
  }
}

object OrderService extends Factory[OrderService] {
  private val Default = "orders"
  implicit val ordering: Ordering[Order] = Ordering.by(_.id)

  def apply(repository: OrderRepository): OrderService = new OrderService(repository)
}

object Reports {
  def summary(orders: Seq[Order], sink: Sink): Unit = {
    val (open, closed) = orders.partition(_.isOpen)
    var printer = sink.printer()
    open.foreach { case (key, entry) => entry.print(key.label()) }
    for {
      group <- closed.grouped(10)
      (name, rows) <- group.byName()
      head = rows.head()
    } printer.write(name.trim(), head.id())
    sink.state() match {
      case whole @ Full(size) => whole.drop(size.half())
      case next :: rest       => next.link(rest.size())
      case Default            => sink.flush()
      case idle               => idle.await()
    }
    try printer.close()
    catch { case problem => problem.report((text, level) => text.log(level.code())) }
  }
}

package object util {
  val Empty: Order = Order.empty
}
