package com.acme.orders.service;

import static com.acme.orders.util.Preconditions.checkNotNull;
import static java.util.stream.Collectors.*;

import com.acme.orders.model.Order;
import com.acme.orders.model.OrderId;
import com.acme.orders.model.Status;
import java.time.Clock;
import java.util.*;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Places and finds orders.
 *
 * @see OrderRepository
 */
@Service("orders")
@Transactional(readOnly = true)
public class OrderService extends AbstractService<Order, OrderId> implements OrderFinder, Metrics.Source<Order> {
    private static final Logger LOG = LoggerFactory.getLogger(OrderService.class);
    static final int MAX_PAGE_SIZE = 100, DEFAULT_PAGE_SIZE = 20;
    private static final String[] FIELDS = {"id", "status"};

    private final OrderRepository repository;
    protected Clock clock = Clock.systemUTC();
    @Autowired(required = false)
    volatile Map<OrderId, List<Order>> cache = new HashMap<>();
    /** Newest first. */
    private final Comparator<Order> byAge = new Comparator<>() {
        private int numCalls;

        @Override
        public int compare(Order left, Order right) {
            numCalls++;
            return left.placedAt().compareTo(right.placedAt());
        }
    };

    static {
        Registry registry = Registry.instance();
        registry.register(OrderService.class);
    }

    public OrderService(OrderRepository repository, @Value("${orders.clock}") Clock clock) {
        super(repository, "orders");
        this.repository = checkNotNull(repository);
        this.clock = clock;
    }

    OrderService(OrderRepository repository) {
        this(repository, Clock.systemUTC());
    }

    /** Finds one order. */
    @Override
    @Cacheable(cacheNames = {"orders"}, key = "#id")
    public Optional<Order> find(OrderId id) throws OrderException {
        Order cached = this.cache.get(id).getFirst();
        if (cached != null) {
            return Optional.of(cached);
        }
        var lookup = new Lookup<Order>(id);
        try (Session session = repository.open(); var span = new Tracer.Span("find")) {
            return super.find(id).or(() -> session.load(Order.class, id));
        } catch (NotFoundException | TimeoutException error) {
            LOG.warn("no order {}", id, error);
            throw new OrderException(error);
        } finally {
            lookup.close();
        }
    }

    protected <R extends Comparable<R>> List<R> mapAll(Collection<? extends Order> orders, Function<Order, R> mapper) {
        List<R> mapped = new ArrayList<>();
        for (Order order : orders) {
            mapped.add(mapper.apply(order));
        }
        orders.stream().map(Order::id).map(this::describe).map(Receipt::new).collect(toList());
        return mapped;
    }

    private String describe(OrderId id) {
        return switch (repository.status(id)) {
            case OPEN -> String.valueOf(Status.OPEN.label);
            case CLOSED -> Labels.closed(id);
            default -> throw new IllegalStateException();
        };
    }

    static double area(Shape shape) {
        Object value = shape;
        if (value instanceof Circle circle && circle.radius() > 0) {
            return circle.radius() * Math.PI;
        }
        return switch (shape) {
            case Square square -> square.side() * square.side();
            case Rectangle(Length width, var height) -> width.times(height);
            default -> (double) Shapes.UNKNOWN.area();
        };
    }

    // Runs later.
    @Async void refresh(Runnable... tasks) {
        class Worker extends Thread {
            int rounds;

            @Override
            public void run() {
                OrderService.this.clearAll();
                refresh();
            }
        }
        new Worker().start();
        Runnable task = () -> repository.flush();
        com.acme.jobs.Scheduler.schedule(task, com.acme.jobs.Priority.HIGH);
        java.util.UUID key = java.util.UUID.randomUUID();
    }

    private void clearAll() {
        cache.clear();
    }

    /** Counts. */
    public static class Builder {
        private OrderRepository repository;

        public Builder repository(OrderRepository repository) {
            this.repository = repository;
            return this;
        }

        public OrderService build() {
            return new OrderService(repository);
        }
    }

    private class Audit {
        void log(Order order) {
            order.customer().name().trim();
        }
    }
}
