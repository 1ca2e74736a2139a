import { request } from '@fw/core/testing';
import type { Logger } from 'fw';
import { expect, test } from 'vitest';
import type { Check } from './check.ts';
import { createDrain } from './drain.ts';
import { createHealth } from './health.ts';

function newHealth(checks: Readonly<Record<string, Check>> = {}) {
  const warnings: string[] = [];
  const logger: Logger = { info: () => {}, warn: (text) => warnings.push(text), error: () => {} };
  const drain = createDrain();
  const health = createHealth({ drain, logger, checkTimeoutMs: 50 });
  health.begin(checks);
  return { app: health.app, drain, warnings };
}

test('/livez and /readyz answer 200 while every check passes', async () => {
  const { app } = newHealth({ store: async () => {} });

  expect((await request(app, '/livez')).status).toBe(200);
  expect((await request(app, '/readyz')).status).toBe(200);
  expect((await request(app, '/readyz', { method: 'HEAD' })).status).toBe(200);
});

test('/readyz answers 503 while a check fails, and the log says which', async () => {
  const { app, warnings } = newHealth({
    store: async () => {},
    cache: async () => {
      throw new Error('no route to host');
    },
  });

  const response = await request(app, '/readyz');

  expect(response.status).toBe(503);
  expect(response.headers.get('content-type')).toBe('application/problem+json');
  expect(await response.json()).toMatchObject({ status: 503, code: 'SERVICE_UNAVAILABLE' });
  expect(warnings).toEqual(['Check "cache" failed: no route to host']);
  expect((await request(app, '/livez')).status).toBe(200);
});

test('/readyz does not wait for a check that hangs', async () => {
  const { app, warnings } = newHealth({ store: () => new Promise(() => {}) });

  expect((await request(app, '/readyz')).status).toBe(503);
  expect(warnings).toEqual(['Check "store" failed: no answer within 50 ms']);
});

test('draining turns /readyz off and leaves /livez on', async () => {
  const { app, drain } = newHealth();

  drain.begin();

  expect((await request(app, '/readyz')).status).toBe(503);
  expect((await request(app, '/livez')).status).toBe(200);
});

test('any other path answers 404', async () => {
  const { app } = newHealth();

  expect((await request(app, '/')).status).toBe(404);
});
