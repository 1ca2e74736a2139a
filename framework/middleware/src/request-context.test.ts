import { AsyncResource } from 'node:async_hooks';
import { EventEmitter } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { createApp, type Middleware } from '@fw/core';
import { quiet, request } from '@fw/core/testing';
import { expect, onTestFinished, test } from 'vitest';
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

/** Where a function reads the context. `jobs` run outside of requests, like the callbacks of a pool. */
type Place = (read: () => string, jobs: EventEmitter) => Promise<string>;

test.each<readonly [string, string, Place]>([
  [
    'in an event of the request',
    '/path',
    (read) =>
      new Promise((done) => new EventEmitter().once('event', () => done(read())).emit('event')),
  ],
  [
    'in a callback that a shared queue calls',
    'none',
    (read, jobs) => new Promise((done) => jobs.once('run', () => done(read()))),
  ],
  [
    'in such a callback with AsyncResource.bind',
    '/path',
    (read, jobs) =>
      new Promise((done) =>
        jobs.once(
          'run',
          AsyncResource.bind(() => done(read())),
        ),
      ),
  ],
])('%s, the context has the path %s', async (_, expected, run) => {
  const jobs = new EventEmitter();
  const timer = setInterval(() => jobs.emit('run'), 1);
  onTestFinished(() => clearInterval(timer));
  const app = createApp()
    .use(requestContext())
    .get('/path', () => run(readPath, jobs));

  const response = await request(app, '/path');

  expect(await response.text()).toBe(expected);
});

/** The path of the current context, or "none" if there is no context. */
function readPath(): string {
  try {
    return currentContext().path;
  } catch {
    return 'none';
  }
}

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
