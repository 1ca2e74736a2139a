import { expect, test } from 'vitest';

import type { Contestant } from './contestant.ts';
import type { Sample, Way } from './measure.ts';
import { summarize } from './summary.ts';

/** The lane's slices: processor time per request, one a round. */
function lane(contestant: Contestant, way: Way, micros: readonly number[]): readonly Sample[] {
  return micros.map((cpuMicrosPerRequest, index) => ({
    service: 'users',
    store: 'sqlite',
    endpoint: 'GET v1',
    contestant,
    way,
    round: index + 1,
    requestsPerSecond: 1e6 / cpuMicrosPerRequest,
    cpuMicrosPerRequest,
    coreShare: 1,
  }));
}

test('ratios and overheads are medians of what the rounds give, not of the slices', () => {
  const [summary] = summarize([
    ...lane('fw', 'direct', [11, 22, 110]),
    ...lane('fastify', 'direct', [22, 44, 110]),
    ...lane('fw-bare', 'direct', [10, 20, 50]),
    ...lane('fastify-bare', 'direct', [11, 22, 55]),
    ...lane('fw', 'edge', [20, 20, 20]),
    ...lane('fastify', 'edge', [30, 30, 30]),
  ]);

  expect(summary).toMatchObject({
    production: { ratio: 2, fwMicros: 22, fastifyMicros: 44 },
    bare: { ratio: 1.1 },
    edge: { ratio: 1.5, fwPerSecond: 50_000 },
  });
  expect(summary?.overhead).toBeCloseTo(0.1);
  expect(summary?.fastifyOverhead).toBeCloseTo(1);
});
