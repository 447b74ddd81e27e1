package com.acme.orders.model;

import jakarta.persistence.Column;
import jakarta.persistence.Entity;

/** How orders are kept. */
public interface OrderRepository<T extends Order & Comparable<T>> extends Repository<T, OrderId>, AutoCloseable {
    int MAX_BATCH = 500;

    T findByNumber(@Param("number") String number);

    /** Those of a customer. */
    default List<T> findAll(Customer customer) {
        return find(Query.of(customer), MAX_BATCH);
    }

    static <T extends Order> OrderRepository<T> inMemory() {
        return new MemoryRepository<>();
    }

    private void check() {}

    interface Listener {
        void onSaved(Order order);
    }
}

@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.TYPE, ElementType.METHOD})
@interface Audited {
    String value() default "";

    Class<? extends Auditor> by() default Auditor.class;
}

/**
 * What an order is known by.
 *
 * @param value a number
 */
public record OrderId(@Positive long value, String prefix) implements Comparable<OrderId> {
    static final OrderId NONE = new OrderId(0, "");

    public OrderId {
        Objects.requireNonNull(prefix);
    }

    OrderId(long value) {
        this(value, "A");
    }

    @Override
    public int compareTo(OrderId other) {
        return Long.compare(value, other.value());
    }
}

public sealed interface Payment permits Card, Transfer {}

record Card(String number) implements Payment {}

final class Transfer implements Payment {
    String iban;
}

public enum Status implements Labelled {
    /** Not paid yet. */
    OPEN("open"),
    CLOSED("closed") {
        @Override
        public boolean isFinal() {
            return true;
        }
    },
    @Deprecated
    LOST("lost");

    public static final Status DEFAULT = OPEN;
    final String label;

    Status(String label) {
        this.label = label;
    }

    public boolean isFinal() {
        return this == LOST;
    }

    static Status parse(String text) {
        return valueOf(text.trim());
    }
}

enum Plain { A, B }

@Entity
public abstract class Order {
    @Column(name = "placed_at", nullable = false)
    protected Instant placedAt;
    public Customer<? super Address> customer;
    private Map.Entry<String, Payment> last;

    protected abstract Money total();

    public native int size();

    @Deprecated
    synchronized final void add(final Item item, int... counts) {
        customer.orders.add(item);
        last = Map.entry("a", (Payment) item.payment());
        new Outer.Inner<Item>(item).run();
    }
}
