<?php

namespace App\Tests\Orders;

use App\Orders\Model\Order;
use App\Orders\Service\OrderService;
use PHPUnit\Framework\Attributes\{DataProvider, Test};
use PHPUnit\Framework\TestCase;

class OrderServiceTest extends TestCase
{
    private OrderService $service;

    protected function setUp(): void
    {
        $repository = $this->createMock(OrderRepository::class);
        $this->service = new OrderService($repository);
    }

    public function testFindsOrders(): void
    {
        $order = $this->service->find('a1');
        self::assertSame('a1', $order->id);
        $this->assertInstanceOf(Order::class, $order);
    }

    #[Test]
    #[DataProvider('names')]
    public function rejects(string $name): void
    {
        $this->expectException(OrderException::class);
        $this->service->parse($name);
    }

    public static function names(): array
    {
        return [['a'], ['b']];
    }
}
