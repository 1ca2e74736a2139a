import { expect, test } from 'vitest';

import { addOnCostsOf } from './add-on-costs.ts';
import type { Workload } from './workloads.ts';

function rounds(contestant: string, workload: Workload, micros: readonly number[]) {
  return micros.map((cpuMicrosPerRequest, index) => ({
    contestant,
    workload,
    round: index + 1,
    cpuMicrosPerRequest,
  }));
}

test('the cost of an add-on is the median of the differences within rounds, not the difference of medians', () => {
  const samples = [
    ...rounds('hono', 'hello', [10, 20, 30]),
    ...rounds('hono', 'limited', [15, 21, 32]),
  ];

  expect(addOnCostsOf(samples)).toEqual([
    {
      workload: 'limited',
      contestant: 'hono',
      over: 'hono',
      bareMicros: 20,
      micros: 21,
      costMicros: 2,
    },
  ]);
});

test('add-on costs are sorted, lowest first', () => {
  const samples = [
    ...rounds('express', 'post', [40]),
    ...rounds('express', 'validated', [44]),
    ...rounds('fw', 'post', [20]),
    ...rounds('fw', 'validated', [21]),
  ];

  expect(addOnCostsOf(samples).map(({ contestant }) => contestant)).toEqual(['fw', 'express']);
});

test('the cost of a Nest controller is compared with the same route of Fastify', () => {
  const samples = [...rounds('fastify', 'user', [20]), ...rounds('nest', 'controller', [29])];

  expect(addOnCostsOf(samples)).toMatchObject([
    { contestant: 'nest', over: 'fastify', costMicros: 9 },
  ]);
});

test('an add-on without its bare workload has no cost', () => {
  expect(addOnCostsOf(rounds('fw', 'controller', [20]))).toEqual([]);
});
