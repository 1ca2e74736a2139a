import { expect, test } from 'vitest';

import { createMetrics } from './metrics.ts';
import { MAX_CLIENTS } from './request-metrics.ts';

test('10,000 clients have a bounded number of series, and no request is lost', async () => {
  const metrics = createMetrics();

  for (const version of ['v1', 'v2']) {
    for (let index = 0; index < 10_000; index++) {
      metrics.countClient({ version, path: `/api/${version}`, client: `client-${index}` });
    }
  }

  const [metric] = (await metrics.register.getMetricsAsJSON()).filter(
    ({ name }) => name === 'api_requests_total',
  );
  const values = metric?.values ?? [];
  const others = values.filter(({ labels }) => labels.client === 'other');
  expect(values).toHaveLength(2 * (MAX_CLIENTS + 1));
  expect(others.map(({ value }) => value)).toEqual([10_000 - MAX_CLIENTS, 10_000 - MAX_CLIENTS]);
});

test('a client that has a series keeps it when the limit is reached', async () => {
  const metrics = createMetrics();
  const count = (client: string) => metrics.countClient({ version: 'v1', path: '/api/v1', client });
  count('billing');
  for (let index = 0; index < 1_000; index++) count(`client-${index}`);

  count('billing');

  const text = await metrics.register.getSingleMetricAsString('api_requests_total');
  expect(text).toContain('api_requests_total{version="v1",path="/api/v1",client="billing"} 2');
});
