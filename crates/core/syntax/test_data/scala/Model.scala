package com.acme.orders.model

import com.acme.util.{Money as Cash, given, *}
import com.acme.json.Codec as JsonCodec
import scala.util.chaining.*

/** What an order is known by. */
opaque type OrderId = Long

object OrderId:
  def apply(value: Long): OrderId = value

  extension (id: OrderId)
    def value: Long = id
    def next: OrderId = id + 1

trait Repository[F[_], +T <: Entity, -K] extends Source[T] with AutoCloseable:
  type Page
  val size: Int
  var seen: Seq[Order]

  def find(key: K): F[Option[T]]

  protected def check(page: Page): Boolean = accepts(page)
end Repository

sealed trait Payment:
  self: Logging =>
  def amount: Cash

final case class Card(number: String, amount: Cash = Cash.Zero) extends Payment, Marker derives Eq

case object Free extends Payment:
  override val amount: Cash = Cash.Zero

enum Status(val label: String) extends Labelled:
  /** Not paid yet. */
  case Open extends Status("open")
  case Closed, Lost
  case Other(reason: Reason)

  def isFinal: Boolean = this == Closed

given idOrdering: Ordering[OrderId] with
  def compare(left: OrderId, right: OrderId): Int = left.value.compare(right.value)

given JsonCodec[Card] with
  def encode(card: Card): String = Json.write(card)

given fallback: Cash = Cash.Zero

extension [T](items: List[T])
  def second: T = items(1)

def total(orders: Seq[Order])(using rate: Rate): Cash =
  val sum = orders.map(_.total).reduce(plus)
  sum.times(rate)

private def plus(left: Cash, right: Cash): Cash = left + right

val Limit = 100
val handler: Order => Unit = order => order.print()

@main def run(args: String*): Unit =
  val service = OrderService(Storage.memory)
  service.find(OrderId(1L))
