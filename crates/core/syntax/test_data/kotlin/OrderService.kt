@file:JvmName("Orders")

package com.acme.orders

import com.acme.orders.model.Order
import com.acme.orders.model.Status as OrderStatus
import com.acme.util.*
import kotlinx.coroutines.flow.Flow

private const val MAX_RETRIES = 3
val DefaultClock: Clock = SystemClock()
internal var numStarted = 0

typealias Handler<T> = suspend (T) -> Unit

/**
 * Places and finds orders.
 */
@Service
class OrderService @Inject constructor(
    private val repository: OrderRepository,
    @Named("io") internal val clock: Clock = DefaultClock,
    var limit: Int = 10,
    plain: Options,
) : BaseService<Order>(plain), OrderFinder, Closeable by repository {
    /** Newest first. */
    private val cache = LruCache<OrderId, Order>(limit)
    protected lateinit var session: Session
    val isOpen: Boolean
        get() = repository.status == OrderStatus.OPEN
    private val mapper by lazy { OrderMapper(clock) }
    var retries: Int = 0
        private set

    init {
        val registry = Registry(plain)
        registry.register(this)
    }

    constructor(repository: OrderRepository) : this(repository, DefaultClock, plain = Options()) {
        numStarted++
    }

    @Throws(OrderException::class)
    override suspend fun find(id: OrderId, vararg tags: String): Order? {
        val cached = this.cache.get(id)?.first()
        cached?.let { return it }
        val found = retry(MAX_RETRIES) { repository.load<Order>(id) }
        found!!.customer.touch()
        repository!!.flush()
        session.use { session -> session.run(id, found) }
        return super.find(id) ?: throw OrderException("no order $id")
    }

    private fun describe(order: Order, prefix: String = "#"): String = when (order.payment) {
        is Card -> Labels.card(order)
        in known -> order.payment.label
        else -> prefix shl order.id
    }

    protected inline fun <reified T : Event> onEach(events: Flow<T>, crossinline action: (T) -> Unit) {
        events.map(::wrap).filter(this::accepts).forEach(Receipt::print)
        try {
            for (event: Event in events) publish(*events)
        } catch (error: TimeoutException) {
            log.warn("late", error)
        }
        val listener = object : Listener<T>, Closeable {
            private var count = 0

            override fun onEvent(event: T) {
                count++
                action(event)
            }
        }
        val names = Names<String>(listener)
        bus.add(listener as Listener<Event>, String::class)
    }

    // Locals and parameters that are called like members of other classes.
    private fun report(orders: List<Order>, accept: (Order) -> Boolean, sink: Sink?) {
        val first = orders.first()
        val (head, rest) = split(orders)
        first.print()
        head.mark().also { marked -> marked.print() }
        for (order in rest) if (accept(order)) order.print()
        for ((key, value) in index()) value.store(key.name())
        when (val state = head.state()) {
            null -> sink?.close()
            else -> state.enter()
        }
        rest.fold(Money.ZERO) { (sum, rate), order -> sum.plus(order.total(rate)) }
        val check = fun(candidate: Candidate): Boolean { return candidate.accept(first) }
        try {
            check(head)
        } catch (problem: OrderException) {
            problem.report(accept)
        }
    }

    fun accepts(receipt: Receipt): Boolean {
        fun isNew(at: Instant): Boolean = at > clock.now()
        return isNew(receipt.at)
    }

    internal class Audit(val order: Order) {
        fun log() = order.print()
    }

    companion object {
        const val NAME = "orders"
        private val log = LoggerFactory.getLogger(OrderService::class.java)

        @JvmStatic
        fun create(): OrderService = OrderService(InMemory.repository())
    }
}

fun wrap(order: Order): Receipt = Receipt(order)

/** Total of all. */
fun List<Order>.total(): Money = fold(Money.ZERO) { sum, order -> sum + order.total }

internal fun Order?.orEmpty(): Order = this ?: Order.EMPTY

val Order.isPaid: Boolean
    get() = this.status == OrderStatus.PAID

infix fun Money.plusTax(rate: Rate): Money = this * rate
