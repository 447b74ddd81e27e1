import type { Request, Response } from 'express';
import { Injectable, Inject as Dep, type Scope } from '@nestjs/common';
import fs = require('fs');
import Alias = Shapes.Square;
import { Repository } from './repository';

/** How orders are kept. */
export interface OrderStore<T extends Order = Order> extends Closeable, base.Store<T> {
  readonly name: string;
  items?: Map<string, T>;
  find(id: OrderId): Promise<T | undefined>;
  new (options: Options): OrderStore<T>;
  [key: string]: unknown;
}

export type OrderId = string & { readonly brand: unique symbol };
type Handler<A> = (event: A, context: Context) => Promise<void>;
export type Mapped<T> = { [K in keyof T]: T[K] extends infer U ? U : never };

export enum Status {
  Open = 'open',
  Closed = 'closed',
  Unknown,
}

export const enum Flag { A = 1 }

declare global {
  interface Window {
    orders: OrderStore;
  }
}

declare function external(name: string): void;
declare const VERSION: string;

declare module 'legacy' {
  export function load(path: string): Legacy;
}

export namespace Shapes {
  export const SIDES = 4;
  export class Square {
    area(): number {
      return SIDES;
    }
  }
  function internal() {}
}

export function parse(text: string): Order;
export function parse(text: Buffer): Order;
export function parse(text: any): Order {
  return JSON.parse(text) as Order;
}

/**
 * Handles orders.
 */
@Injectable({ scope: Scope.REQUEST })
export class OrderService extends BaseService<Order> implements OrderStore, lifecycle.OnInit {
  private readonly logger: Logger = new Logger(OrderService.name);
  protected static instances = 0;
  public items?: Map<string, Order>;
  declare readonly kind: 'orders';
  @Column({ type: 'text' })
  status: Status = Status.Open;

  constructor(
    private readonly repository: Repository<Order>,
    @Dep('CLOCK') protected clock: Clock,
    readonly limit: number,
    plain: Options,
  ) {
    super(plain);
    this.repository.connect(clock);
  }

  @Cached()
  async find(id: OrderId): Promise<Order | undefined> {
    const found = await this.repository.findOne({ id });
    const mapper = new OrderMapper<Order>(this.clock);
    const order: Order = mapper.map(found!);
    this.logger.debug(`found ${order.id}`);
    return order ?? (null as unknown as Order);
  }

  get size(): number {
    return this.items!.size;
  }

  private static build<T>(this: void, factory: Factory<T>): T {
    return factory.create();
  }

  handle = async (request: Request): Promise<Response> => {
    return respond(request.body as Payload, parse);
  };

  protected log?(message: string): void;
}

export abstract class Shape {
  abstract readonly sides: number;
  abstract area(): number;
  protected describe(): string {
    return `${this.area()}`;
  }
}

export const isOrder = (value: unknown): value is Order => typeof value === 'object';
export default OrderService;
const handlers: Record<string, Handler<Order>> = { open: onOpen, close: (order) => onClose(order) };

function onOpen<E extends OrderEvent>(event: E, target: typeof handlers): asserts event is E {
  const typed = <Order>event.payload;
  const config = { depth: 1 } satisfies Config;
  target['open'](typed, config);
}

export { onOpen as opened, type Handler };
