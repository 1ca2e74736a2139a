import { expect, test } from 'vitest';

import type { Contestant } from './contestant.ts';
import type { Sample, Way } from './measure.ts';
import { summarize, summarizeCosts } from './summary.ts';

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
  const samples = [
    ...lane('fw', 'direct', [11, 22, 110]),
    ...lane('fastify', 'direct', [22, 44, 110]),
    ...lane('fw-observed', 'direct', [10.5, 25, 52.5]),
    ...lane('fw-bare', 'direct', [10, 20, 50]),
    ...lane('fastify-bare', 'direct', [11, 22, 55]),
    ...lane('fw', 'edge', [20, 20, 20]),
    ...lane('fastify', 'edge', [30, 30, 30]),
  ];

  const [summary] = summarize(samples);
  const [costs] = summarizeCosts(samples);

  expect(summary).toMatchObject({
    production: { ratio: 2, fwMicros: 22, fastifyMicros: 44 },
    bare: { ratio: 1.1 },
    edge: { ratio: 1.5, fwPerSecond: 50_000 },
  });
  expect(summary?.fastifyOverhead).toBeCloseTo(1);
  expect(costs?.bareMicros).toBe(20);
  expect(costs?.observation).toBeCloseTo(0.05);
  expect(costs?.production).toBeCloseTo(0.1);
});

test('a run of ours alone tells what it costs, and compares nothing', () => {
  const samples = [
    ...lane('fw', 'direct', [12]),
    ...lane('fw-observed', 'direct', [11]),
    ...lane('fw-bare', 'direct', [10]),
  ];

  expect(summarize(samples)).toEqual([]);
  expect(summarizeCosts(samples)).toMatchObject([{ endpoint: 'GET v1', bareMicros: 10 }]);
});
