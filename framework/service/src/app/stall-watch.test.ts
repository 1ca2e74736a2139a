import { EventEmitter, once } from 'node:events';
import { readFile } from 'node:fs';
import { readFile as readFileAsync } from 'node:fs/promises';
import { setImmediate as immediate, setTimeout as sleep } from 'node:timers/promises';

import { request } from '@fw/core/testing';
import { expect, onTestFinished, test } from 'vitest';

import { createMetrics } from '../metrics/metrics.ts';
import { recordLog } from '../testing/log.ts';
import { createServiceApp } from './service-app.ts';
import { createStallWatch } from './stall-watch.ts';

/** A watched service without routes whose clock only `block` advances. */
function newService() {
  let clockMs = 0;
  const { lines: warnings, entries, logger } = recordLog();
  const metrics = createMetrics();
  const stalls = createStallWatch({ logger, metrics, now: () => clockMs });
  onTestFinished(() => stalls.stop());
  stalls.start();
  return {
    app: createServiceApp({ logger, metrics, stalls }),
    stalls,
    warnings,
    entries,
    block(durationMs: number) {
      clockMs += durationMs;
    },
    async counts() {
      const text = await metrics.register.getSingleMetricAsString('http_event_loop_blocked_total');
      const lines = text.matchAll(/\{http_route="(.*)"\} (\d+)/g);
      return Object.fromEntries([...lines].map(([, route, count]) => [route, Number(count)]));
    },
  };
}

/** Emits `tick` again and again from outside every request, as a socket that several requests share does. */
function tickOutside(): EventEmitter {
  const outside = new EventEmitter().setMaxListeners(0);
  const timer = setInterval(() => outside.emit('tick'), 1);
  onTestFinished(() => clearInterval(timer));
  return outside;
}

/** Where a handler blocks the event loop. */
type Place = (block: () => void, outside: EventEmitter) => void | Promise<void>;

/** Resolves when a callback that `register` passes on has called `block`. */
const inCallback = (register: (callback: () => void) => void, block: () => void) =>
  new Promise<void>((resolve) => {
    register(() => {
      block();
      resolve();
    });
  });

const PLACES: Readonly<Record<string, Place>> = {
  'before the first await': (block) => block(),
  'after an await of nothing': async (block) => {
    await null;
    block();
  },
  'after an await of a timer': async (block) => {
    await sleep(1);
    block();
  },
  'after an await of a file': async (block) => {
    await readFileAsync(import.meta.filename);
    block();
  },
  'after an await of an event from outside': async (block, outside) => {
    await once(outside, 'tick');
    block();
  },
  'between two awaits': async (block) => {
    await immediate();
    block();
    await sleep(1);
  },
  'in a timer': (block) => inCallback((callback) => void setTimeout(callback, 1), block),
  'in an immediate': (block) => inCallback((callback) => void setImmediate(callback), block),
  'in a tick': (block) => inCallback((callback) => process.nextTick(callback), block),
  'in a microtask': (block) => inCallback(queueMicrotask, block),
  'in a callback of a file': (block) =>
    inCallback((callback) => readFile(import.meta.filename, callback), block),
};

test('of concurrent requests, each one that blocks is reported with its own stall', async () => {
  const outside = tickOutside();
  const { app, block, counts, entries } = newService();
  const places = [...Object.values(PLACES), ...Object.values(PLACES)];
  for (const [index, place] of places.entries()) {
    app.get(`/${index}/:id`, async (ctx) => {
      await place(() => block(51), outside);
      ctx.json({});
    });
  }
  app.get('/fine', async (ctx) => {
    await once(outside, 'tick');
    block(0.1);
    await sleep(1);
    ctx.json({});
  });

  const paths = [...places.map((_, index) => `/${index}/7`), '/fine', '/fine'];
  const send = (path: string, at: number) =>
    request(app, path, { headers: { 'X-Request-Id': `r${at}` } });
  await Promise.all(paths.map(send));
  await immediate();

  const lineOf = (message: string, requestId: unknown) => `${message}, request ${requestId}`;
  const lines = entries.map(({ message, fields }) => lineOf(message, fields?.requestId));
  const expected = places.map((_, at) =>
    lineOf(`GET /${at}/:id blocked the event loop for 51 ms`, `r${at}`),
  );
  expect(lines.toSorted()).toEqual(expected.toSorted());
  const routes = places.map((_, at) => [`/${at}/:id`, 1]);
  expect(await counts()).toEqual({ '': 0, ...Object.fromEntries(routes) });
});

test.each(Object.entries(PLACES))(
  'a stall %s outside of requests has no route',
  async (_, place) => {
    const { block, counts, warnings } = newService();

    await sleep(1);
    await place(() => block(51), tickOutside());
    await immediate();

    expect(warnings).toEqual(['Code outside of watched requests blocked the event loop for 51 ms']);
    expect(await counts()).toEqual({ '': 1 });
  },
);

test('50 ms are no stall, and two callbacks of 30 ms are none', async () => {
  const { app, block, warnings } = newService();
  app.get('/', async (ctx) => {
    await sleep(1);
    block(50);
    await sleep(1);
    block(30);
    await null;
    block(30);
    ctx.json({});
  });

  await request(app, '/');
  await immediate();

  expect(warnings).toEqual([]);
});

test('a request without a route counts as none', async () => {
  const { app, block, counts } = newService();
  app.use(() => block(80));

  await request(app, '/missing');
  await immediate();

  expect(await counts()).toEqual({ '': 0, none: 1 });
});

test('under load, only the first callbacks of an interval and what precedes an await are watched', async () => {
  const { app, block, counts } = newService();
  app.get('/', async (ctx) => {
    block(60);
    for (let count = 0; count < 20_000; count++) await null;
    block(60);
    ctx.json({});
  });

  await request(app, '/');
  await immediate();

  expect(await counts()).toEqual({ '': 0, '/': 1 });
});

test('a stall after an await has no route if its request began unwatched', async () => {
  const { app, stalls, block, counts } = newService();
  app.get('/', async (ctx) => {
    stalls.start();
    await null;
    block(60);
    ctx.json({});
  });
  stalls.stop();

  await request(app, '/');
  await immediate();

  expect(await counts()).toEqual({ '': 1 });
});
