import { expect, test } from 'vitest';

import { pricesOf } from './prices.ts';
import type { Workload } from './workloads.ts';

function rounds(contestant: string, workload: Workload, micros: readonly number[]) {
  return micros.map((cpuMicrosPerRequest, index) => ({
    contestant,
    workload,
    round: index + 1,
    cpuMicrosPerRequest,
  }));
}

test('a price is the median of the differences within rounds, not the difference of medians', () => {
  const costs = [
    ...rounds('hono', 'hello', [10, 20, 30]),
    ...rounds('hono', 'limited', [15, 21, 32]),
  ];

  expect(pricesOf(costs)).toEqual([
    {
      workload: 'limited',
      contestant: 'hono',
      over: 'hono',
      bareMicros: 20,
      micros: 21,
      priceMicros: 2,
    },
  ]);
});

test('prices are sorted, lowest first', () => {
  const costs = [
    ...rounds('express', 'post', [40]),
    ...rounds('express', 'validated', [44]),
    ...rounds('fw', 'post', [20]),
    ...rounds('fw', 'validated', [21]),
  ];

  expect(pricesOf(costs).map(({ contestant }) => contestant)).toEqual(['fw', 'express']);
});

test('the price of a Nest controller is taken over the same route of Fastify', () => {
  const costs = [...rounds('fastify', 'user', [20]), ...rounds('nest', 'controller', [29])];

  expect(pricesOf(costs)).toMatchObject([{ contestant: 'nest', over: 'fastify', priceMicros: 9 }]);
});

test('an add-on without its bare workload has no price', () => {
  expect(pricesOf(rounds('fw', 'controller', [20]))).toEqual([]);
});
