<?php

namespace App\Orders\Model;

use Doctrine\ORM\Mapping as ORM;

/** How orders are kept. */
interface OrderRepository extends Repository, \IteratorAggregate
{
    public const LIMIT = 100;

    public function find(OrderId $id): ?Order;

    public static function inMemory(): self;
}

trait Labelled
{
    protected ?string $label;

    abstract public function fallback(): string;

    public function label(): string
    {
        return $this->label ?? $this->fallback();
    }
}

/**
 * What became of an order.
 */
enum Status: string implements HasLabel
{
    /** Not paid yet. */
    case Open = 'open';
    #[Deprecated]
    case Closed = 'closed';

    const DEFAULT = self::Open;

    public static function parse(string $text): self
    {
        return self::from(trim($text));
    }

    public function isFinal(): bool
    {
        return match ($this) {
            Status::Open => false,
            self::Closed => true,
        };
    }
}

enum Suit
{
    case Hearts;
}

final readonly class OrderId
{
    public function __construct(public int $value)
    {
    }
}

#[ORM\Entity(repositoryClass: OrderRepository::class)]
abstract class Order extends Entity
{
    use Labelled;

    #[ORM\Column(type: 'string')]
    private string $number;

    var $legacy;

    public string $title {
        get => $this->number;
    }

    abstract public function total(): Money;

    final public function add(Item $item, callable $check = null): static
    {
        $this->items[] = $item;
        $check($item);
        $this->payment = $item->payment();
        return $this;
    }
}
