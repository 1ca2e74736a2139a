import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import { EventEmitter, once } from 'node:events';
import type { Readable } from 'node:stream';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { createApp, createRouter, type Guard, type Middleware } from '@fw/core';
import { recordedBody } from '@fw/core/extension';
import { openConnection, quiet, recordLog, request } from '@fw/core/testing';
import { createMetrics, createServiceApp } from '@fw/service';
import { describe, expect, expectTypeOf, test, vi } from 'vitest';
import { z } from 'zod';
import { serve } from '../../core/src/testing/vitest.ts';
import { type EventClient, type ServerSentEvent, sse } from './sse.ts';

/** A server with one stream; with its log. */
async function start(handler: Middleware) {
  const { logger, problems, errors } = recordLog();
  const server = await serve(createApp({ logger }).use(handler));
  const open = () =>
    openConnection(server.port).send('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
  return { ...server, problems, errors, open };
}

/** A stream of these events. */
const streamOf = (...events: readonly ServerSentEvent[]) =>
  sse(async function* () {
    yield* events;
  });

/** The events that a client gets, as text. */
async function textOf(event: ServerSentEvent): Promise<string> {
  const app = createApp({ logger: quiet }).use(streamOf(event));
  const text = await (await request(app, '/')).text();
  return text.replace(/^:\n\n/, '').replace(/:end\n\n$/, '');
}

/** A source that never sends, and records how it ended. */
function createSilentSource() {
  const ends: unknown[] = [];
  const source = async function* (_: unknown, { signal }: EventClient) {
    try {
      await once(new EventEmitter(), 'never', { signal });
      yield {};
    } catch (error) {
      ends.push((error as Error).name);
      throw error;
    }
  };
  return { ends, source };
}

describe('an event', () => {
  test.each<readonly [ServerSentEvent, string]>([
    [{ data: 'hello' }, 'data: hello\n\n'],
    [{ data: { a: 1 } }, 'data: {"a":1}\n\n'],
    [{ data: null }, 'data: null\n\n'],
    [{ data: '' }, 'data: \n\n'],
    [{ data: 'a\nb\r\nc\rd' }, 'data: a\ndata: b\ndata: c\ndata: d\n\n'],
    [{ data: 'x\n\nevent: admin' }, 'data: x\ndata: \ndata: event: admin\n\n'],
    [{ id: '7', event: 'a', data: 1, retryMs: 10 }, 'id: 7\nevent: a\nretry: 10\ndata: 1\n\n'],
    [{ id: '' }, 'id: \n\n'],
    [{ retryMs: 0 }, 'retry: 0\n\n'],
  ])('%j is sent as %j', async (event, text) => {
    expect(await textOf(event)).toBe(text);
  });

  test.each<readonly [ServerSentEvent, string]>([
    [{ event: 'a\ndata: b' }, 'Cannot send an event with the event "a\\ndata: b"'],
    [{ id: 'a\rb' }, 'with the id "a\\rb": expected one line without NUL'],
    [{ retryMs: 1.5 }, 'with retryMs "1.5": expected a whole number of milliseconds'],
    [{ data: () => {} }, 'with data of type function: it has no JSON form'],
  ])('%j ends the stream and is logged', async (event, message) => {
    const { open, problems, errors } = await start(streamOf({ data: 'before' }, event));

    const received = await open().readAll();

    expect(received).toContain('data: before');
    expect(received).not.toMatch(/0\r\n\r\n$/);
    expect(problems).toEqual(['error: GET /: the response stream failed']);
    expect(errors).toEqual([expect.any(TypeError)]);
    expect(String(errors[0])).toContain(message);
  });
});

test.each([
  ['Promise', async () => [1]],
  ['Undefined', () => undefined],
])(
  'a source that returns a value of type %s is a 500 that explains async generators',
  async (type, source) => {
    const { open, errors } = await start(sse(source as never));

    expect(await open().readAll()).toMatch(/^HTTP\/1\.1 500 /);
    expect(String(errors[0])).toBe(
      `TypeError: Cannot send events: the source of sse() returned a value of type ${type}; write async function* and yield each event`,
    );
  },
);

describe('the response', () => {
  test('has the headers of an event stream before the first event', async () => {
    const { open } = await start(sse(createSilentSource().source));

    const head = await open().read(/:\n\n/);

    expect(head).toMatch(/^HTTP\/1.1 200 OK/);
    expect(head).toContain('Content-Type: text/event-stream\r\n');
    expect(head).toContain('Cache-Control: no-cache\r\n');
    expect(head).toContain('X-Accel-Buffering: no\r\n');
  });

  test('to HEAD has no events and does not start the source', async () => {
    let starts = 0;
    const app = createApp().use(
      sse(async function* () {
        starts++;
        yield {};
      }),
    );

    const response = await request(app, '/', { method: 'HEAD' });

    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    expect(starts).toBe(0);
  });

  test('ends after the last event with a comment', async () => {
    const { open } = await start(streamOf({ data: 1 }));

    expect(await open().readAll()).toMatch(/data: 1\n\n.*:end\n\n\r\n0\r\n\r\n$/s);
  });

  test('contains comments while there are no events', async () => {
    const { open } = await start(sse(createSilentSource().source, { heartbeatMs: 1 }));

    expect(await open().read(/(?::\n\n.*){5}/s)).toContain(':\n\n');
  });
});

describe('the source', () => {
  test.each([
    ['', ''],
    ['7', '7'],
    [Buffer.from('é').toString('latin1'), 'é'],
  ])('gets the Last-Event-ID "%s"', async (header, expected) => {
    const app = createApp().use(
      sse(async function* (_, { lastEventId }) {
        yield { data: { lastEventId } };
      }),
    );
    const headers: Record<string, string> = header === '' ? {} : { 'Last-Event-ID': header };

    const response = await request(app, '/', { headers });

    expect(await response.text()).toContain(JSON.stringify({ lastEventId: expected }));
  });

  test('is asked for events only as fast as the client reads', async () => {
    let requested = 0;
    let unread = Number.NaN;
    const events = sse(async function* () {
      while (requested < 5) yield { data: 'x'.repeat(100_000 + requested++) };
    });
    const app = createApp().use(async (ctx, next) => {
      await events(ctx, next);
      (recordedBody(ctx) as Readable).read(0); // asks for events and reads none
      for (let turns = 0; turns < 100; turns++) await nextTurn();
      unread = requested;
    });

    const response = await request(app, '/');

    expect((await response.text()).match(/^data: x/gm)).toHaveLength(5);
    expect(unread).toBe(1);
  });

  test('is aborted when the client disconnects, and nothing is logged', async () => {
    const { source, ends } = createSilentSource();
    const { open, problems } = await start(sse(source));
    const client = open();
    await client.read(/:\n\n/);

    client.close();

    await expect.poll(() => ends).toEqual(['AbortError']);
    expect(problems).toEqual([]);
  });

  test('runs its finally block when the client disconnects', async () => {
    const ends: string[] = [];
    const { open } = await start(
      sse(async function* () {
        try {
          for (;;) {
            yield { data: 1 };
            await sleep(1);
          }
        } finally {
          ends.push('finally');
        }
      }),
    );
    const client = open();
    await client.read(/data/);

    client.close();

    await expect.poll(() => ends).toEqual(['finally']);
  });

  test('that is no async iterable, or fails when it is released, does not crash', async () => {
    const broken = {
      [Symbol.asyncIterator]: () => ({
        next: () => Promise.resolve({ done: true as const, value: undefined }),
        return: () => {
          throw new Error('broken');
        },
      }),
    };
    const { open } = await start(sse(() => broken));
    const { open: openOther } = await start(sse((() => ({})) as never, { maxClients: 1 }));

    expect(await open().readAll()).toMatch(/^HTTP\/1.1 200 .*0\r\n\r\n$/s);
    for (let attempt = 0; attempt < 2; attempt++) {
      expect(await openOther().readAll()).toMatch(/^HTTP\/1.1 500 /);
    }
  });

  test('keeps the AsyncLocalStorage of the request', async () => {
    const storage = new AsyncLocalStorage<string>();
    const app = createApp()
      .use((_, next) => storage.run('request', next))
      .use(
        sse(async function* () {
          yield { data: storage.getStore() };
          await new AsyncResource('x').runInAsyncScope(() => sleep(1));
          yield { data: storage.getStore() };
        }),
      );

    expect((await (await request(app, '/')).text()).match(/request/g)).toHaveLength(2);
  });
});

describe('close()', () => {
  test('ends open streams at once and completely, without the last comment', async () => {
    const { source, ends } = createSilentSource();
    const { open, close, problems } = await start(sse(source));
    const client = open();
    await client.read(/:\n\n/);

    await close({ timeoutMs: 60_000 });

    expect(await client.readAll()).toMatch(/:\n\n\r\n0\r\n\r\n$/);
    expect(ends).toEqual(['AbortError']);
    expect(problems).toEqual([]);
  });

  test('ends a stream at once that starts while the server is closing', async () => {
    const { source } = createSilentSource();
    const { port, close } = await start(sse(source));
    const client = openConnection(port).send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await client.read(/:\n\n/);
    const closed = close({ lingerMs: 60_000, timeoutMs: 120_000 });
    await client.read(/0\r\n\r\n/);

    client.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');

    expect(await client.readAll()).toMatch(/0\r\n\r\n.*Connection: close.*0\r\n\r\n$/s);
    await closed;
  });
});

describe('a stream that reaches maxAgeMs', () => {
  test('ends completely without the last comment, so that its client reconnects', async () => {
    const { source, ends } = createSilentSource();
    const { open, problems } = await start(sse(source, { maxAgeMs: 20 }));

    const received = await open().readAll();

    expect(received).toMatch(/:\n\n\r\n0\r\n\r\n$/);
    expect(ends).toEqual(['AbortError']);
    expect(problems).toEqual([]);
  });

  test.each([
    ['passed', -1],
    ['comes', 20],
  ])('ends when the time of its token %s', async (_, leftMs) => {
    const guard: Guard<{ readonly expiresMs: number }> = (ctx, next) => {
      Object.assign(ctx.state, { expiresMs: Date.now() + leftMs });
      return next();
    };
    const router = createRouter().get(
      '/',
      guard,
      sse(createSilentSource().source, { maxAgeMs: (ctx) => ctx.state.expiresMs - Date.now() }),
    );
    const app = createApp().route('/', router);

    expect(await (await request(app, '/')).text()).toBe(':\n\n');
  });

  test('is not opened if its time is no number', async () => {
    const { source, ends } = createSilentSource();
    const { open, errors } = await start(sse(source, { maxAgeMs: () => Number.NaN }));

    expect(await open().readAll()).toMatch(/^HTTP\/1.1 500 /);
    expect(String(errors[0])).toContain('expected milliseconds');
    expect(ends).toEqual([]);
  });
});

test('a stream of a service outlives its request time-out and counts as in flight', async () => {
  const metrics = createMetrics();
  const app = createServiceApp({ requestTimeoutMs: 20, metrics }).use(
    sse(async function* (ctx, { signal }) {
      await once(ctx.signal, 'abort');
      yield { data: { inFlight: metrics.inFlight, isAborted: signal.aborted } };
    }),
  );

  const response = await request(app, '/');

  expect(response.headers.get('cache-control')).toBe('no-cache');
  expect(await response.text()).toContain('data: {"inFlight":1,"isAborted":false}\n\n');
  expect(metrics.inFlight).toBe(0);
});

test('a client above maxClients gets 503, until another one disconnects', async () => {
  const { open } = await start(sse(createSilentSource().source, { maxClients: 1 }));
  const first = open();
  await first.read(/:\n\n/);

  const rejected = await open().readAll();
  first.close();

  expect(rejected).toMatch(/^HTTP\/1.1 503 .*Retry-After: 5/s);
  await vi.waitFor(async () => {
    const client = open();
    expect(await client.read(/\n\n/)).toMatch(/^HTTP\/1.1 200/);
    client.close();
  });
});

test('a source that always has an event lets other requests run', async () => {
  let events = 0;
  let eventsBefore = Number.NaN;
  const source = sse(async function* () {
    while (events < 20_000) yield { data: events++ };
  });
  const app = createApp({ logger: quiet }).use((ctx, next) => {
    setImmediate(() => {
      eventsBefore = events;
    });
    return source(ctx, next);
  });

  const response = await request(app, '/');

  expect(await response.text()).toContain('data: 19999\n');
  expect(eventsBefore).toBeLessThan(5_000);
});

test('the metadata of a route describes the stream and the limit of clients', () => {
  const [route] = createRouter().get('/', sse(createSilentSource().source)).getRoutes();

  expect(route?.metadata.responses).toEqual({
    200: { description: 'Server-sent events', mediaTypes: ['text/event-stream'] },
    503: {},
  });
});

describe('with schemas', () => {
  const schemas = {
    tick: z.object({ count: z.number() }),
    done: z.string(),
  };
  // biome-ignore lint/suspicious/noExplicitAny: events that TypeScript would reject
  const send = (...events: readonly any[]) =>
    start(
      createRouter()
        .get(
          '/',
          sse(schemas, async function* () {
            yield* events;
          }),
        )
        .routes(),
    );

  test('an event contains the declared fields of its data, as JSON', async () => {
    const { open } = await send(
      { event: 'tick', id: '1', data: { count: 1, secret: 'x' } },
      { event: 'done', data: 'all\nsent' },
    );

    const received = await open().readAll();

    expect(received).toContain('id: 1\nevent: tick\ndata: {"count":1}\n\n');
    expect(received).toContain('event: done\ndata: "all\\nsent"\n\n');
  });

  test.each([
    [
      { event: 'tick', data: { count: 'x' } },
      'Event "tick" of GET / breaks its contract: "/count" is',
    ],
    [{ event: 'tock', data: 1 }, 'Cannot send the event "tock": expected one of "tick", "done"'],
    [{ data: 1 }, 'Cannot send the event "undefined": expected one of "tick", "done"'],
  ])('%j ends the stream and is logged', async (event, message) => {
    const { open, errors } = await send(event);

    expect(await open().readAll()).not.toMatch(/data|0\r\n\r\n$/);
    expect(String(errors[0])).toContain(message);
  });

  test('the source can only yield events that fit', () => {
    sse(schemas, async function* () {
      yield { event: 'tick', data: { count: 1 }, id: '1' };
      yield { event: 'done', data: 'all' };
    });
    // @ts-expect-error: the event is not declared
    sse(schemas, async function* () {
      yield { event: 'tock', data: { count: 1 } };
    });
    // @ts-expect-error: the data of another event
    sse(schemas, async function* () {
      yield { event: 'tick', data: 'all' };
    });
    createRouter().get(
      '/users/:id/events',
      sse(schemas, async function* (ctx: { readonly params: { readonly id: string } }) {
        expectTypeOf(ctx.params.id).toEqualTypeOf<string>();
        yield { event: 'done', data: ctx.params.id };
      }),
    );
  });
});
