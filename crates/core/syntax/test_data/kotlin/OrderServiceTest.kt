package com.acme.orders

import com.acme.orders.model.Order
import io.mockk.every
import io.mockk.mockk
import kotlin.test.Test
import kotlin.test.assertEquals
import org.junit.jupiter.api.BeforeEach

@ExtendWith(MockKExtension::class)
class OrderServiceTest {
    @MockK
    lateinit var repository: OrderRepository
    private val service = OrderService(repository)

    @BeforeEach
    fun setUp() {
        every { repository.find(any()) } returns Order(1)
    }

    @Test
    fun `finds orders`() = runTest {
        val order = service.find(OrderId(1))
        assertEquals(1, order.id)
        verify(exactly = 1) { repository.find(any()) }
    }

    @Nested
    inner class WhenEmpty {
        @Test
        fun findsNothing() {
            assertThrows<OrderException> { service.find(OrderId(2)) }
        }
    }
}

class PaymentSpec : StringSpec({
    "pays" {
        val payment = Payment()
        payment.pay() shouldBe true
    }
})
