import { AsyncResource } from 'node:async_hooks';
import { EventEmitter } from 'node:events';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { createApp, type Middleware } from '@fw/core';
import { request } from '@fw/core/testing';
import { Hono } from 'hono';
import { contextStorage, getContext } from 'hono/context-storage';
import { expect, test } from 'vitest';

import { expectSection, markdownTable } from '../../../deploy/local/testing/markdown.ts';
import { currentContext, requestContext } from './request-context.ts';
import { peer } from './testing/peers.ts';

const quiet = { info() {}, warn() {}, error() {} };

/** A function deep in the call stack that has no `ctx`. */
async function readRequestId(): Promise<string> {
  await nextTurn();
  return currentContext().requestId;
}

test('currentContext returns the context of the request, also after an await', async () => {
  const app = createApp()
    .use(requestContext())
    .get('/', () => readRequestId());

  const response = await request(app, '/', { headers: { 'X-Request-Id': 'id-1' } });

  expect(await response.text()).toBe('id-1');
});

test('concurrent requests see their own context', async () => {
  const app = createApp()
    .use(requestContext())
    .get('/', () => readRequestId());
  const ids = Array.from({ length: 20 }, (_, index) => `id-${index}`);

  const texts = await Promise.all(
    ids.map(async (id) => (await request(app, '/', { headers: { 'X-Request-Id': id } })).text()),
  );

  expect(texts).toEqual(ids);
});

/** Where a function reads the context. `jobs` run outside of requests, like the callbacks of a pool. */
const PLACES: Readonly<
  Record<string, (read: () => string, jobs: EventEmitter) => Promise<string>>
> = {
  'after an `await`': async (read) => {
    await nextTurn();
    return read();
  },
  'in a timer': (read) => new Promise((resolve) => setTimeout(() => resolve(read()), 1)),
  'in an event of the request': (read) =>
    new Promise((resolve) => new EventEmitter().once('event', () => resolve(read())).emit('event')),
  'in a callback that a shared queue calls': (read, jobs) =>
    new Promise((resolve) => jobs.once('run', () => resolve(read()))),
  'the same with `AsyncResource.bind`': (read, jobs) =>
    new Promise((resolve) =>
      jobs.once(
        'run',
        AsyncResource.bind(() => resolve(read())),
      ),
    ),
};

/** Returns the result of `read`, or "none" if there is no context. */
function orNone(read: () => string): string {
  try {
    return read();
  } catch {
    return 'none';
  }
}

test('the README compares where the context is found', async () => {
  const rows: string[][] = [];
  for (const [place, run] of Object.entries(PLACES)) {
    const jobs = new EventEmitter();
    const own = createApp()
      .use(requestContext())
      .get('/found', () => run(() => orNone(() => currentContext().path), jobs));
    const hono = new Hono()
      .use(contextStorage())
      .get('/found', async (c) =>
        c.text(await run(() => orNone(() => getContext().req.path), jobs)),
      );
    const timer = setInterval(() => jobs.emit('run'), 1);
    const responses = await Promise.all([own, peer(hono)].map((app) => request(app, '/found')));
    rows.push([place, ...(await Promise.all(responses.map((response) => response.text())))]);
    clearInterval(timer);
  }

  expectSection(
    join(import.meta.dirname, '../README.md'),
    'request-context',
    markdownTable(['`currentContext().path`', 'fw', 'hono'], rows),
  );
});

test('outside of a request, currentContext throws as getContext of hono does', () => {
  expect(() => currentContext()).toThrow(
    'Cannot find the current context: expected a call during a request, after requestContext()',
  );
  expect(() => getContext()).toThrow('Context is not available');
});

test.each<readonly [string, readonly Middleware[]]>([
  ['without requestContext()', []],
  ['before requestContext()', [() => currentContext().next(), requestContext()]],
])('%s, a request that reads the current context gets 500', async (_, middleware) => {
  const app = createApp({ logger: quiet }).use(...middleware, () => void currentContext());

  expect((await request(app, '/')).status).toBe(500);
});
