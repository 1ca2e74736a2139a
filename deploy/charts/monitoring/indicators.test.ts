import { createMetrics } from '@fw/service';
import { expect, test } from 'vitest';

import { SERVICE_NAMES, SERVICES } from '../../../services/services.ts';
import { KINDS, OBJECTIVES, SERVICE_OBJECTIVES, type ServiceObjectives } from '../../slo.ts';
import { latencyObjectivesOf, requestsOf, withUniqueNames } from './indicators.ts';

test('every latency objective is a boundary of the histogram', async () => {
  const metrics = createMetrics();
  metrics.begin();
  metrics.end({ method: 'GET', route: '/', status: 200, durationMs: 1 });

  const text = await metrics.register.metrics();

  const boundaries = [...text.matchAll(/_bucket\{le="([\d.]+)"/g)].map(([, le]) => Number(le));
  const limits = Object.values(OBJECTIVES).flatMap(({ p95Ms, p99Ms }) => [p95Ms, p99Ms]);
  expect(boundaries).toEqual(expect.arrayContaining(limits.map((ms) => ms / 1_000)));
});

test('two latency objectives of a service with the same name are rejected', () => {
  const read = { name: 'read', p95Ms: 250, p99Ms: 500 };

  expect(() => withUniqueNames('users', [read, { ...read, p99Ms: 1_000 }])).toThrow(
    new Error(
      'Two latency objectives of users in slo.ts have the name "read": expected different names',
    ),
  );
});

test('every service has objectives; one with a rate limiter also for its decisions', () => {
  expect(Object.keys(SERVICE_OBJECTIVES)).toEqual(SERVICE_NAMES);
  for (const { name, store } of SERVICES) {
    const { availability, correctDecisions }: ServiceObjectives = SERVICE_OBJECTIVES[name];
    expect(availability).toBeGreaterThan(0.9);
    expect(availability).toBeLessThan(1);
    expect(correctDecisions !== undefined, name).toBe(store === 'counters');
  }
});

test.each(KINDS)('%s counts for its own latency objective only', (kind) => {
  const [method = '', route = ''] = kind.split(' ');
  const selects = (selector: string) => {
    const [, methods = '', routes = ''] = /^method=~"(.*)",route=~"(.*)"$/.exec(selector) ?? [];
    return methods.split('|').includes(method) && routes.split('|').includes(route);
  };

  const selected = SERVICE_NAMES.flatMap((service) =>
    latencyObjectivesOf(service).filter((objective) => selects(requestsOf(service, objective))),
  );

  expect(selected).toEqual([OBJECTIVES[kind]]);
});
