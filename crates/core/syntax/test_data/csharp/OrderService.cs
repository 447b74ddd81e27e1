using System.Collections.Generic;
using System.Threading.Tasks;
using Acme.Orders.Model;
using Json = Acme.Serialization.Json.JsonCodec;
using static Acme.Util.Guard;
global using Acme.Logging;

namespace Acme.Orders.Services
{
    /// <summary>
    /// Places and finds orders.
    /// </summary>
    [Service("orders"), Singleton]
    public partial class OrderService<TKey> : BaseService<Order>, IOrderFinder, Metrics.ISource<Order>
        where TKey : IKey, new()
    {
        private const int MaxRetries = 3;
        public static readonly string[] Fields = { "id", "status" };
        private readonly IOrderRepository _repository, _fallback;
        Clock clock = new Clock();
        protected internal Dictionary<OrderId, Order> cache = new();

        /// <summary>How many at once.</summary>
        [Range(1, 100)]
        public int Limit { get; private set; } = 10;

        public bool IsOpen => _repository.Status == Status.Open;
        internal virtual Session? Current { get; set; }

        public event EventHandler<OrderEvent> Placed;

        public event Action Closed
        {
            add { Bus.Subscribe(value); }
            remove { }
        }

        public OrderService(IOrderRepository repository, [FromKeyed("io")] Clock clock) : base(repository, "orders")
        {
            _repository = NotNull(repository);
            this.clock = clock;
        }

        internal OrderService(IOrderRepository repository) : this(repository, Clock.Utc)
        {
        }

        ~OrderService()
        {
            Dispose(false);
        }

        /// <summary>Finds one.</summary>
        [HttpGet("{id}")]
        [Authorize]
        public async Task<Order?> FindAsync(OrderId id, params string[] tags)
        {
            var lookup = new Lookup<Order>(id);
            Receipt receipt = new(id, tags);
            using var session = new Tracing.Session { Name = nameof(FindAsync) };
            if (cache.TryGetValue(id, out Order cached) && cached is Order { IsPaid: true } paid)
            {
                return paid;
            }
            try
            {
                var found = await this._repository.LoadAsync<Order>(id).ConfigureAwait(false);
                found?.Customer.Touch();
                _fallback?.Flush();
                return base.Find(id) ?? (Order)found;
            }
            catch (TimeoutException error) when (error.IsFatal())
            {
                throw new OrderException<TKey>(error);
            }
        }

        private string Describe(Payment payment) => payment switch
        {
            Card card => Labels.Card(card),
            Transfer { Iban: var iban } => iban,
            _ => throw new System.InvalidOperationException(),
        };

        protected static TResult Map<TResult>(IEnumerable<Order> orders, Func<Order, TResult> mapper) where TResult : class
        {
            foreach (Order order in orders)
            {
                Add(mapper(order));
            }
            int Twice(Amount amount) => amount.Times(2);
            orders.Where(order => order.Total.IsZero()).Select(ToReceipt);
            Handler handler = delegate (Order order) { order.Print(); };
            var type = typeof(Order);
            return orders as TResult;
        }

        string IOrderFinder.Name(Order order) => order.Id.ToString();

        public Order this[OrderId id] => cache[id];

        public static OrderService<TKey> operator +(OrderService<TKey> left, Order right) => left.With(right);

        public static implicit operator int(OrderService<TKey> service) => service.Limit;

        // Locals and parameters that are called like members of other classes.
        internal IEnumerable<string> Describe(Func<Order, bool> accepts, params Filter[] filters)
        {
            var (first, last) = Bounds();
            first.Mark();
            foreach (var (key, order) in cache)
            {
                if (!accepts(order) || Find(key, out var twin) && twin.IsSame(order)) key.Forget();
            }
            foreach (var filter in filters) filter.Apply();
            for (var reader = Open(); reader.Read(); reader.Next()) { }
            var lines = from order in orders let total = order.Sum() join rate in rates on total.Currency() equals rate.Code() select total.Format(rate);
            switch (last)
            {
                case Card { Owner: { } owner } card when owner.IsKnown(): card.Charge(); break;
                case var other: other.Skip(); break;
            }
            Action<Order> print = delegate (Order printed) { printed.Print(); };
            lines.ToList().ForEach(line => line.Trim());
            Run((left, right) => left.CompareTo(right), print);
            return lines;
        }

        void Dispose(bool all)
        {
            cache.Clear();
        }

        private sealed class Audit
        {
            string text;

            public void Log(Order order) => order.Customer.Name.Trim();
        }
    }

    public static class OrderExtensions
    {
        public static Money Total(this IEnumerable<Order> orders) => orders.Sum();
    }
}
