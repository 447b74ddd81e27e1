using System;

namespace Acme.Orders.Model;

/// <summary>What an order is known by.</summary>
public readonly record struct OrderId(long Value);

public record Card([property: Masked] string Number, Money? Limit) : Payment(Number), IMarker
{
    public string Last => Number[^4..];
}

public abstract record Payment(string Name);

/** How orders are kept. */
public interface IRepository<T, in TKey> : ISource<T>, IDisposable where T : Entity
{
    int Count { get; }
    event Action<T> Saved;
    T Find(TKey key);
    Task<IReadOnlyList<T>> FindAllAsync(Page page) => Source.ReadAsync(page);
}

[Flags]
internal enum Status : byte
{
    /// <summary>Not paid yet.</summary>
    Open = 1,
    [Obsolete("never")]
    Closed = Open << 1,
}

public delegate void OrderHandler(Order order, OrderEventArgs args);

struct Point : IEquatable<Point>, IShape
{
    public double X, Y;

    public bool Equals(Point other) => X == other.X;
}

public class Customer(string name, Address address) : Entity(name), IAddressed
{
    public Address Home { get; init; } = address;

    public class Builder
    {
        private protected Address home;
        protected virtual Customer Build() => new Customer("", home);
    }
}

file sealed class Hidden
{
#if DEBUG
    public int Debugged() => 1;
#endif
}

[Table("orders")]
public partial class Order : Entity, IComparable<Order>
{
    [Key]
    public OrderId Id { get; }

    public required (Money Amount, Currency Unit) Total;
    public Status Status { get; set; } = Status.Open;

    public int CompareTo(Order? other)
    {
        object boxed = default(Money);
        if (boxed is Money || boxed is Refund refund)
        {
            return 0;
        }
        Acme.Audit.Trail trail = Acme.Audit.Trail.Current;
        return Id.Value.CompareTo(other!.Id.Value);
    }
}
