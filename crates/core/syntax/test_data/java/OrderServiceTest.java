package com.acme.orders.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.when;

import com.acme.orders.model.Order;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@ExtendWith(MockitoExtension.class)
class OrderServiceTest {
    @Mock
    private OrderRepository repository;

    @InjectMocks
    private OrderService service;

    @BeforeEach
    void setUp() {
        service = new OrderService(repository);
    }

    @Test
    void findsOrders() throws Exception {
        Order order = Orders.open();
        when(repository.find(order.id())).thenReturn(order);
        assertThat(service.find(order.id())).contains(order);
    }

    @ParameterizedTest(name = "{0}")
    @ValueSource(strings = {"a", "b"})
    void rejects(String text) {
        assertThrows(OrderException.class, () -> service.parse(text));
    }

    private static Order order(int... numbers) {
        return new Order(numbers) {
            @Override
            Money total() {
                return Money.ZERO;
            }
        };
    }

    @Nested
    class WhenEmpty {
        @Test
        void findsNothing() {
            assertThat(service.count()).isZero();
        }
    }
}
