import { request } from '@fw/core/testing';
import { createMetrics } from '@fw/service';
import type { Middleware } from 'fw';
import { expect, test } from 'vitest';

import { createUsersApp } from './app.ts';
import { openTestStore } from './testing.ts';

const ID = '0c8f6d5a-9d0c-4c5b-8d6e-3b3f0a6f3b1e';

test.each([
  [`/api/v1/users/${ID}`, ['find', 'page']],
  [`/api/v2/users/${ID}`, ['find', 'page']],
  [`/API/V2/Users/${ID.toUpperCase()}/`, ['find', 'page']],
  ['/api/v2/users/figures', ['page', 'figures']],
])('a list and %s that wait for a connection begin in the order %j', async (path, order) => {
  expect(await orderOfCalls(path)).toEqual(order);
  expect(await orderOfCalls(path, authenticate)).toEqual(order);
});

/** Accepts any token. */
const authenticate: Middleware = (ctx, next) => {
  ctx.state.user = { id: 'ada' };
  return next();
};

/** The methods of the store in the order in which they begin, when a list and `path` had to wait. */
async function orderOfCalls(path: string, guard?: Middleware): Promise<readonly PropertyKey[]> {
  const calls: PropertyKey[] = [];
  const store = new Proxy(openTestStore(), {
    get(target, name) {
      calls.push(name);
      return Reflect.get(target, name);
    },
  });
  const metrics = createMetrics();
  const pool = { max: 1, size: 1, idle: 0, waiting: 1 };
  metrics.watchPool('users', () => pool);
  const app = createUsersApp({
    ...{ authenticate: guard, store, bodyLimit: 1 },
    ...{ metrics, shedding: { maxInFlight: 9 } },
  });

  const responses = ['/api/v2/users', path].map((each) => request(app, each));
  await expect.poll(() => metrics.inFlight, { interval: 1 }).toBe(2);
  pool.waiting = 0;
  await Promise.all(responses);

  return calls.filter((name) => name !== 'idempotency');
}
