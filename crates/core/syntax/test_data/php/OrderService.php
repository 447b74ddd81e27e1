<?php

declare(strict_types=1);

namespace App\Orders\Service;

use App\Orders\Exception\{NotFound, Timeout as Late};
use App\Orders\Model\Order;
use App\Orders\Model\Status;
use Psr\Log\LoggerInterface as Logger;
use function App\Util\not_null;
use const App\Util\PAGE_SIZE;
use Countable;

require_once __DIR__ . '/helpers.php';
include 'legacy.php';

const DEFAULT_LIMIT = 20;
define('ORDERS_DEBUG', false);

/**
 * Places and finds orders.
 */
#[Service('orders'), Lazy]
#[Route('/orders', name: 'orders')]
final class OrderService extends AbstractService implements OrderFinder, \Countable
{
    use LogsCalls, \App\Support\Caches {
        LogsCalls::log as protected writeLog;
    }

    public const MAX_RETRIES = 3, MIN_RETRIES = 1;
    private const string NAME = 'orders';

    /** Newest first. */
    protected static array $cache = [];
    private ?Session $session = null, $previous;
    #[Inject]
    public Clock $clock;

    public function __construct(
        private readonly OrderRepository $repository,
        #[Named('io')] protected ?Logger $logger = null,
        int $limit = DEFAULT_LIMIT,
        Metrics ...$metrics,
    ) {
        parent::__construct($limit);
        $this->clock = new SystemClock();
        $this->metrics = $metrics;
    }

    /** Finds one. */
    #[Cached(ttl: 60)]
    public function find(OrderId|string $id, array $tags = []): ?Order
    {
        $lookup = new Lookup($id);
        $cached = self::$cache[$id] ?? static::load($id);
        try {
            $order = $this->repository->open($id)->first();
            $order->customer->touch();
            $this->session?->metrics?->count('find', ...$tags);
        } catch (NotFound | Late $error) {
            $this->logger->warning("no order {$id->number()}", ['error' => $error]);
            throw new OrderException($error);
        } finally {
            $lookup->close();
        }
        return $cached instanceof Order ? $cached : parent::find($id);
    }

    protected static function load(self $other, Order&Labelled $order): static
    {
        $copy = clone $other;
        $mapper = function (Order $item) use ($copy): Receipt {
            return new Receipt($item, Status::OPEN->label());
        };
        $print = fn (Receipt $receipt): string => $receipt->print();
        array_map($mapper, $other->all(...));
        not_null($order);
        \App\Util\trace('load', Status::class, Config::$debug);
        Registry::instance()->register(OrderService::MAX_RETRIES);
        return new static(new \App\Orders\Storage\Memory(PAGE_SIZE));
    }

    private function describe(Payment $payment): string
    {
        return match (true) {
            $payment instanceof Card => Labels::card($payment),
            default => <<<TEXT
                Paid by {$this->name($payment)}
                TEXT,
        };
    }

    function listener(): Listener
    {
        return new class($this) extends BaseListener implements Listener {
            private int $count = 0;

            public function onEvent(Event $event): void
            {
                $this->count++;
                $event->handle();
            }
        };
    }

    abstract protected function name(Payment $payment): string;
}

function total(Order $first, Order ...$more): Money
{
    static $calls = 0;
    $sum = Money::zero();
    foreach ($more as $order) {
        $sum = $sum->plus($order->total());
    }
    return $sum;
}

function archive(iterable $orders, callable ...$hooks): array
{
    global $clock;
    [$first, $last] = bounds($orders);
    $failed = [];
    foreach ($orders as $key => $entry) {
        try {
            $entry->archive($clock->now());
            $label ??= $entry->label();
        } catch (\RuntimeException $problem) {
            $failed[$key] = $problem->getMessage();
            $key->release();
        }
    }
    foreach ($hooks as &$hook) {
        $hook->after(fn ($count) => $count->add($first->id(), $last->id()));
    }
    return array_filter($failed, function ($reason) use (&$label) {
        return $reason->isFinal($label->text());
    });
}

$service = new OrderService(new Storage\Files());
$service->find('a1');
