/**
 * A store of carts.
 */
import React, { useState as useLocal, useEffect } from 'react';
import * as api from './api.js';
import defaults, * as settings from '../settings';
import './side-effect.css';
export * from './types.js';
export * as codec from './codec.js';
export { parse, format as formatCart } from './format.js';

const MAX_ITEMS = 100;
let counter = 0, total;
var legacy = window.legacy;
const { a, b: renamed } = settings;

// Not exported itself.
function helper(cart, ...rest) {
  const local = cart.items;
  function nested() {
    return local.map((item) => price(item));
  }
  return nested() + rest.reduce(sum, 0);
}

/** Loads a cart. */
export async function loadCart(id, { retries = 3 } = {}) {
  const response = await api.get(`/carts/${encode(id)}`, { retries, onError: logError });
  const { Cart: Lazy } = await import('./cart.js');
  return new Lazy(response.data);
}

export function* walk(cart) {
  yield* cart.items;
}

export const sum = (left, right) => left + right;
export const LIMITS = { items: MAX_ITEMS };

/**
 * The store.
 * @template T
 */
export default class CartStore extends events.EventEmitter {
  static instances = new Map();
  #secret = 1;
  carts = [];
  logger = new Logger('carts');
  onChange = (event) => this.emit('change', event);

  constructor(client, options) {
    super(options);
    this.client = client;
    this.cache = new LruCache(MAX_ITEMS);
    this.handlers.push(this.refresh);
  }

  static create(...args) {
    return new this(...args);
  }

  get size() {
    return this.carts.length;
  }

  set size(value) {
    throw new RangeError(`no ${value}`);
  }

  async refresh() {
    this.carts = await Promise.all(this.ids().map(loadCart));
    const view = new views.CartView(this.client);
    view?.render?.(helper);
    super.refresh();
    this.#touch();
  }

  #touch() {
    counter += 1;
  }

  *[Symbol.iterator]() {
    yield* walk(this);
  }
}

class Base {}
const Mixed = class extends mixin(Base) {
  mixed() {}
};

const handlers = {
  add(cart, item) {
    cart.add(item);
  },
  remove: function (cart) {
    cart.clear();
  },
  update: async (cart) => save(cart),
  'key with space': helper,
  limit: MAX_ITEMS,
};

items.forEach(function each(item) {
  const inner = item;
  register(inner, helper);
});

export { handlers, helper as internalHelper, Mixed };
