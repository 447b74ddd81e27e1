package com.acme.orders.model

import java.time.Instant

/** What an order is known by. */
@JvmInline
value class OrderId(val value: Long) : Comparable<OrderId> {
    override operator fun compareTo(other: OrderId): Int = value.compareTo(other.value)
}

interface Repository<T : Any, in K> : Source<T>, java.io.Closeable {
    val size: Int

    fun find(key: K): T?

    fun findAll(page: Page = Page.first()): List<T> = source(page).items

    interface Listener {
        fun onSaved(item: Any)
    }
}

fun interface Visitor {
    fun visit(order: Order)
}

sealed class Payment(open val amount: Money) {
    data class Card(val number: String, override val amount: Money) : Payment(amount)

    data object Cash : Payment(Money.ZERO)

    object Unknown : Payment(Money.ZERO), Marker
}

sealed interface Marker

@Serializable
@Table(name = "orders")
data class Order(
    @SerialName("id") val id: OrderId,
    val status: Status = Status.OPEN,
    private val items: MutableList<Item> = mutableListOf(),
    val placedAt: Instant? = null,
) {
    private var total: Money? = null

    operator fun plus(item: Item): Order = copy(items = items)

    fun <T> fold(initial: T, operation: (T, Item) -> T): T where T : Any = items.fold(initial, operation)

    companion object Factory : OrderFactory<Order> {
        override fun create(id: OrderId): Order {
            return Order(id)
        }
    }
}

enum class Status(val label: String) : Labelled {
    /** Not paid yet. */
    OPEN("open"),
    @Deprecated("never")
    CLOSED("closed") {
        override fun isFinal() = true
    },
    ;

    open fun isFinal(): Boolean = false

    companion object {
        fun parse(text: String): Status = valueOf(text)
    }
}

annotation class Audited(val by: String = "")

abstract class Shape {
    protected abstract val sides: Int

    abstract fun area(): Double

    private fun describe() {
        println(area())
    }
}

object Registry : Shape(), Marker {
    override val sides = 0

    override fun area(): Double = 0.0

    fun register(shape: Shape?) = shape?.area()
}

class Square : Shape {
    constructor(side: Double) : super() {
        Registry.register(this)
    }
}
