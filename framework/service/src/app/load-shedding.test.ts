import { once } from 'node:events';
import { connect } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';

import { json } from '@fw/body-parser';
import { request } from '@fw/core/testing';
import type { Context } from 'fw';
import { expect, onTestFinished, test } from 'vitest';

import { createMetrics } from '../metrics/metrics.ts';
import { recordLog } from '../testing/log.ts';
import { serve } from '../testing/vitest.ts';
import { createRequestQueue } from './load-shedding.ts';
import { createServiceApp } from './service-app.ts';

/** A service whose requests of `/slow` wait for the gate, and whose connection pool can be made busy. */
function newService() {
  const handled: string[] = [];
  const { lines, logger } = recordLog();
  const metrics = createMetrics();
  const gate = Promise.withResolvers<void>();
  const pool = { max: 10, size: 10, idle: 10, waiting: 0 };
  metrics.watchPool('users', () => pool);
  const isCritical = ({ path }: Context) => path === '/critical';
  const app = createServiceApp({ logger, metrics, isCritical, shedding: { maxInFlight: 4 } });
  app.use(json(), async (ctx) => {
    handled.push(ctx.path);
    if (ctx.path === '/slow') await gate.promise;
    ctx.json({});
  });
  const readMetrics = () => metrics.register.metrics();
  return { app, gate, handled, lines, metrics, pool, readMetrics };
}

const PROBLEM = {
  type: 'about:blank',
  title: 'Service Unavailable',
  status: 503,
  detail: 'Service Unavailable',
  code: 'SERVICE_UNAVAILABLE',
  requestId: 'abc',
};

test('requests above the maximum in flight get 503, and are served again below it', async () => {
  const { app, gate, lines, metrics, readMetrics } = newService();
  const slow = Array.from({ length: 4 }, () => request(app, '/slow'));
  await expect.poll(() => metrics.inFlight).toBe(4);

  const shed = await request(app, '/', { headers: { 'X-Request-Id': 'abc' } });
  gate.resolve();
  await Promise.all(slow);
  const served = await request(app, '/');

  expect(shed.status).toBe(503);
  expect(shed.headers.get('retry-after')).toBe('1');
  expect(shed.headers.get('content-type')).toBe('application/problem+json');
  expect(await shed.json()).toEqual(PROBLEM);
  expect(served.status).toBe(200);
  expect(lines).toEqual([]);
  expect(await readMetrics()).toContain('http_requests_shed_total{reason="in_flight"} 1');
});

test('requests whose body is still arriving do not keep other requests out', async () => {
  const { app, metrics } = newService();
  const { port } = await serve(app);
  const uploads = Array.from({ length: 5 }, () => connect(port, '127.0.0.1'));
  onTestFinished(() => {
    for (const upload of uploads) upload.destroy();
  });
  const head = 'POST /upload HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n';
  for (const upload of uploads) upload.write(`${head}Content-Length: 100\r\n\r\n`);
  const [rejected] = await Promise.race(uploads.map((upload) => once(upload, 'data')));
  await expect.poll(() => metrics.inFlight).toBe(4);

  const served = await fetch(`http://127.0.0.1:${port}/`);

  expect(String(rejected)).toMatch(/^HTTP\/1.1 503 /);
  expect(served.status).toBe(200);
});

test('a request that was answered before its body arrived makes no room for others', async () => {
  const { app, gate, metrics } = newService();
  const { port } = await serve(app);
  const upload = connect(port, '127.0.0.1');
  onTestFinished(() => {
    upload.destroy();
  });
  upload.write(
    'POST / HTTP/1.1\r\nHost: a\r\nContent-Type: text/xml\r\nContent-Length: 100\r\n\r\n',
  );
  const [response] = await once(upload, 'data');
  const slow = Array.from({ length: 4 }, () => request(app, '/slow'));
  await expect.poll(() => metrics.inFlight).toBe(4);

  const { status } = await request(app, '/');
  gate.resolve();
  await Promise.all(slow);

  expect(`${response}`).toMatch(/^HTTP\/1.1 415 /);
  expect(status).toBe(503);
});

test('critical requests begin before the others that wait', async () => {
  const { app, handled, metrics, pool } = newService();
  pool.waiting = 10;
  const first = request(app, '/');
  await expect.poll(() => metrics.inFlight).toBe(1);
  const critical = request(app, '/critical');
  await expect.poll(() => metrics.inFlight).toBe(2);
  pool.waiting = 0;
  const responses = await Promise.all([first, critical]);

  expect(responses.map(({ status }) => status)).toEqual([200, 200]);
  expect(handled).toEqual(['/critical', '/']);
});

test('a request whose client leaves while it waits is not handled', async () => {
  const { app, handled, metrics, pool, readMetrics } = newService();
  const { port, server } = await serve(app);
  const connected = once(server, 'connection');
  pool.waiting = 10;
  const client = connect(port, '127.0.0.1');
  client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  const [socket] = await connected;
  await expect.poll(() => metrics.inFlight).toBe(1);

  client.destroy();
  await once(socket, 'close');
  pool.waiting = 0;

  await expect.poll(readMetrics).toContain('shed_total{reason="client_left"} 1');
  expect(handled).toEqual([]);
});

/** A queue whose clock stands still, and the requests that began or were rejected, in order. */
function newQueue() {
  const clock = { nowMs: 0 };
  const resource = { isSaturated: true };
  const queue = createRequestQueue({
    now: () => clock.nowMs,
    isSaturated: () => resource.isSaturated,
  });
  const events: string[] = [];
  const enter = async (name: string, { hasLeft = false, onStart = () => {} } = {}) => {
    const rejection = await queue.wait({ isCritical: false, hasLeft: () => hasLeft });
    events.push(rejection ? `${name}: ${rejection}` : name);
    if (!rejection) onStart();
  };
  const settle = () => expect.poll(() => queue.waiting).toBe(0);
  return { queue, clock, enter, events, resource, settle };
}

test('requests begin immediately until one turn of the event loop has taken 10 ms', async () => {
  const { queue, clock, resource } = newQueue();
  resource.isSaturated = false;

  const first = queue.isOpen();
  clock.nowMs = 9.9;
  const second = queue.isOpen();
  clock.nowMs = 10;
  const third = queue.isOpen();
  await nextTurn();
  const afterTurn = queue.isOpen();

  expect([first, second, third, afterTurn]).toEqual([true, true, false, true]);
});

test('no request overtakes the queue, which runs in order of arrival', async () => {
  const { queue, enter, events, resource, settle } = newQueue();
  for (const name of ['a', 'b', 'c']) enter(name);
  resource.isSaturated = false;
  const isOpen = queue.isOpen();

  await settle();

  expect({ isOpen, events }).toEqual({ isOpen: false, events: ['a', 'b', 'c'] });
});

test('waiting requests get as much time of a turn as its other work, at least 2 ms', async () => {
  const { clock, enter, events, resource } = newQueue();
  resource.isSaturated = false;
  const onStart = () => {
    clock.nowMs += 1;
  };
  for (let count = 0; count < 20; count++) enter('a', { onStart });
  await nextTurn();
  const first = events.splice(0).length;
  await nextTurn();
  const withoutOtherWork = events.splice(0).length;
  clock.nowMs += 5;
  await nextTurn();
  const withOtherWork = events.splice(0).length;

  // The first turn was scheduled when one request waited.
  expect([first, withoutOtherWork, withOtherWork]).toEqual([1, 2, 5]);
});

test('requests wait while a resource is saturated, each for at most 2 s', async () => {
  const { clock, enter, events, settle } = newQueue();
  enter('a');
  clock.nowMs = 2_000;
  await sleep(20);
  const before = [...events];

  clock.nowMs = 2_000.1;
  await settle();

  expect({ before, events }).toEqual({ before: [], events: ['a: queue_delay'] });
});

test('a queue in which requests wait more than 100 ms for 2 s rejects after 500 ms', async () => {
  const { clock, enter, events, resource, settle } = newQueue();
  enter('a');
  clock.nowMs = 1_000;
  enter('b');
  clock.nowMs = 1_900;
  enter('c');
  clock.nowMs = 2_001;
  enter('d');
  await expect.poll(() => events).toEqual(['a: queue_delay', 'b: queue_delay']);

  resource.isSaturated = false;
  await settle();

  expect(events.slice(2)).toEqual(['c', 'd']);
});

test('a queue that is never empty, but in which no request waits long, is not overloaded', async () => {
  const { clock, enter, events, resource, settle } = newQueue();
  resource.isSaturated = false;
  /** A request that takes 40 ms, the 59th 600 ms; its client then sends another one. */
  const send = (number: number) => {
    const onStart = () => {
      clock.nowMs += number === 59 ? 600 : 40;
      if (number <= 58) send(number + 2);
    };
    enter(`${number}`, { onStart });
  };

  send(1);
  send(2);
  await settle();

  expect(events).toEqual(Array.from({ length: 60 }, (_, index) => `${index + 1}`));
});

test('an empty queue ends the overload: requests may wait 2 s again', async () => {
  const { clock, enter, events, resource, settle } = newQueue();
  enter('a');
  clock.nowMs = 2_100;
  await settle();
  enter('b');
  clock.nowMs = 4_099;
  await sleep(20);
  resource.isSaturated = false;
  await settle();

  expect(events).toEqual(['a: queue_delay', 'b']);
});

test('the request of a client that has left does not begin', async () => {
  const { enter, events, resource, settle } = newQueue();
  enter('a', { hasLeft: true });
  enter('b');
  resource.isSaturated = false;

  await settle();

  expect(events).toEqual(['a: client_left', 'b']);
});
