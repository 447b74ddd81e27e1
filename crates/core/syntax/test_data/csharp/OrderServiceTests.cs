using Acme.Orders.Model;
using Moq;
using Xunit;

namespace Acme.Orders.Tests;

public class OrderServiceTests : IClassFixture<Database>
{
    private readonly Mock<IOrderRepository> _repository = new();

    private readonly OrderService _service;

    public OrderServiceTests(Database database)
    {
        _service = new OrderService(_repository.Object);
    }

    [Fact]
    public async Task FindsOrders()
    {
        _repository.Setup(repository => repository.Find(It.IsAny<OrderId>())).Returns(new Order());
        var order = await _service.FindAsync(new OrderId(1));
        Assert.Equal(1, order.Id);
    }

    [Theory]
    [InlineData("a")]
    public void Rejects(string text)
    {
        Assert.Throws<OrderException>(() => _service.Parse(text));
    }

    private static Order Make() => new() { Id = 1 };
}

[TestFixture]
internal class LegacyTests
{
    [SetUp]
    public void Prepare() => Registry.Reset();
}
