import { setImmediate as nextTurn } from 'node:timers/promises';

import { createApp, type Middleware } from '@fw/core';
import { quiet, request } from '@fw/core/testing';
import { expect, test } from 'vitest';
import { currentContext, requestContext } from './request-context.ts';

/** A function deep in the call stack that has no `ctx`. */
async function readRequestId(): Promise<string> {
  await nextTurn();
  return currentContext().requestId;
}

test('currentContext returns the context of each of several concurrent requests, also after an await', async () => {
  const app = createApp()
    .use(requestContext())
    .get('/', () => readRequestId());
  const ids = Array.from({ length: 20 }, (_, index) => `id-${index}`);

  const texts = await Promise.all(
    ids.map(async (id) => (await request(app, '/', { headers: { 'X-Request-Id': id } })).text()),
  );

  expect(texts).toEqual(ids);
});

test('outside of a request, currentContext throws', () => {
  expect(() => currentContext()).toThrow(
    'Cannot find the current context: expected a call during a request, after requestContext()',
  );
});

test.each<readonly [string, readonly Middleware[]]>([
  ['without requestContext()', []],
  ['before requestContext()', [() => currentContext().next(), requestContext()]],
])('%s, a request that reads the current context gets 500', async (_, middleware) => {
  const app = createApp({ logger: quiet }).use(...middleware, () => void currentContext());

  expect((await request(app, '/')).status).toBe(500);
});
