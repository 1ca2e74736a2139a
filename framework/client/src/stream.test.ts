import { once } from 'node:events';
import type { ServerResponse } from 'node:http';

import { expect, expectTypeOf, onTestFinished, test, vi } from 'vitest';

import type { ClientOptions } from './client-options.ts';
import { createClient, type ProblemError } from './index.ts';
import { errorOf, newNotesClient, startNotes } from './testing/notes.ts';
import { hangUp, type Responder, sendJson, sendStatus, startApi } from './testing/start-api.ts';

const EVENTS = '/notes/events';

/** Sends an event stream; `end` is what happens after its text. */
function sendEvents(text: string, end: (res: ServerResponse) => void = (res) => res.end()) {
  const respond: Responder = (res) => {
    res.writeHead(200, { 'Content-Type': 'text/event-stream' });
    res.write(text, () => end(res));
  };
  return respond;
}

const event = (id: number, name = 'added') =>
  `id: ${id}\nevent: ${name}\ndata: {"id":"${id}","text":""}\n\n`;
const cut = (res: ServerResponse) => res.destroy();
const keepOpen = () => {};
const END = ':end\n\n';

/** The ids of all events of a stream. */
async function idsOf(stream: AsyncIterable<{ readonly id: string }>) {
  const ids: string[] = [];
  for await (const { id } of stream) ids.push(id);
  return ids;
}

const lastIds = (received: Awaited<ReturnType<typeof startApi>>['received']) =>
  received.map(({ headers }) => headers['last-event-id']);

test('a stream has the documented events, typed by their name', async () => {
  const { client, received } = await startNotes(sendEvents(event(1) + END));

  for await (const sent of client.stream(EVENTS, { query: { since: 3 } })) {
    expectTypeOf(sent.id).toEqualTypeOf<string>();
    if (sent.event === 'added') expectTypeOf(sent.data.text).toEqualTypeOf<string>();
    else expectTypeOf(sent.data).toEqualTypeOf<string>();
    expect(sent).toEqual({ event: 'added', data: { id: '1', text: '' }, id: '1' });
  }

  expect(received.map(({ method, url }) => [method, url])).toEqual([['GET', `${EVENTS}?since=3`]]);
  expect(received[0]?.headers.accept).toBe('text/event-stream');
});

test('a stream asks caches for a new response, unless the caller sets Cache-Control', async () => {
  const { client, received } = await startNotes(sendEvents(END));

  await idsOf(client.stream(EVENTS));
  await idsOf(client.stream(EVENTS, { headers: { 'cache-control': 'max-age=3' } }));

  const sent = received.map(({ headers }) => headers['cache-control']);
  expect(sent).toEqual(['no-cache', 'max-age=3']);
});

test('only a path whose document has an event stream has a stream', () => {
  const client = newNotesClient({ baseUrl: 'http://127.0.0.1' });
  const untyped = createClient<{
    '/e': { get: { responses: { 200: { content: { 'text/event-stream': unknown } } } } };
  }>({ baseUrl: 'http://127.0.0.1' });

  // @ts-expect-error: its responses are JSON
  client.stream('/notes');
  expectTypeOf(untyped.stream('/e').next)
    .returns.resolves.toHaveProperty('value')
    .exclude<void>()
    .toEqualTypeOf<{ readonly event: string; readonly data: unknown; readonly id: string }>();
});

test.each([
  ['is cut', event(1) + event(2), cut],
  ['is cut within an event', `${event(1)}${event(2)}id: 3\ndata: {`, cut],
  ['is closed without the comment after the last event', event(1) + event(2), undefined],
])('a stream that %s continues after the last event', async (_, text, end) => {
  const { client, received } = await startNotes(
    sendEvents(text, end),
    sendEvents(event(3), cut),
    sendEvents(event(4) + END),
  );

  expect(await idsOf(client.stream(EVENTS))).toEqual(['1', '2', '3', '4']);
  expect(lastIds(received)).toEqual([undefined, '2', '3']);
});

test('lastEventId starts after an event, and is sent in UTF-8', async () => {
  const { client, received } = await startNotes(sendEvents(END));

  expect(await idsOf(client.stream(EVENTS, { lastEventId: 'é' }))).toEqual([]);
  expect(Buffer.from(String(lastIds(received)[0]), 'latin1').toString()).toBe('é');
});

test('the status 204 ends a stream', async () => {
  const { client, received } = await startNotes(sendEvents(event(1), cut), sendStatus(204));

  expect(await idsOf(client.stream(EVENTS))).toEqual(['1']);
  expect(received).toHaveLength(2);
});

test.each([
  ['has closed', undefined, 'ends'],
  ['has cut', cut, 'fails'],
])('a stream that a server %s that does not return %s', async (_, end, outcome) => {
  const { client } = await startNotes(sendEvents(event(1), end), hangUp);
  const received: string[] = [];
  const read = async () => {
    for await (const { id } of client.stream(EVENTS, { deadlineMs: 500 })) received.push(id);
    return 'ends';
  };

  const result = await read().catch(({ reason }: ProblemError) => {
    expect(reason).toMatch(/unreachable|timeout/);
    return 'fails';
  });

  expect([result, received]).toEqual([outcome, ['1']]);
});

test.each([
  ['a final status', [sendStatus(404)], { reason: 'status', status: 404 }],
  ['a final status after a cut', [sendEvents('', cut), sendStatus(410)], { status: 410 }],
  ['another type', [sendJson({})], { reason: 'unreadable' }],
  ['data that is not JSON', [sendEvents('data: x\n\n', keepOpen)], { reason: 'unreadable' }],
  [
    'an event above the limit',
    [sendEvents(`data: "${'x'.repeat(1_000)}`, keepOpen)],
    { reason: 'unreadable', message: expect.stringContaining('longer than 900 bytes') },
  ],
  ['no connection', [hangUp], { reason: 'unreachable' }],
] satisfies [string, Responder[], object][])('%s is a ProblemError', async (...row) => {
  const [, responders, expected] = row;
  const { baseUrl } = await startApi(...responders);
  const client = newNotesClient({ baseUrl, limitBytes: 900 });

  expect(await errorOf(idsOf(client.stream(EVENTS)))).toMatchObject(expected);
});

test('a status such as 503 is repeated until the deadline, beyond the attempts of a call', async () => {
  const unavailable = Array.from({ length: 5 }, () => sendStatus(503));
  const { client } = await startNotes(
    sendEvents(event(1), cut),
    ...unavailable,
    sendEvents(event(2) + END),
  );

  expect(await idsOf(client.stream(EVENTS))).toEqual(['1', '2']);
});

/** A client whose waits end at once, and what they would have been. */
async function startWaiting(...responders: readonly Responder[]) {
  const { baseUrl, received } = await startApi(...responders);
  const waits: number[] = [];
  const clock = {
    now: () => Date.now(),
    sleep: async (ms: number) => void waits.push(Math.floor(ms)),
  };
  const settings: ClientOptions = { baseUrl, clock, retryDelayMs: 1, deadlineMs: 60_000 };
  return { client: newNotesClient(settings), waits, received };
}

test('the wait after a cut is what the server asks for, up to a minute', async () => {
  const { client, waits } = await startWaiting(
    sendEvents(`retry: 2000\n${event(1)}`, cut),
    sendEvents(event(2), cut),
    sendEvents(`retry: 99999999999999999999\n${event(3)}`, cut),
    sendEvents(event(4) + END),
  );

  expect(await idsOf(client.stream(EVENTS))).toEqual(['1', '2', '3', '4']);
  expect(waits).toEqual([2_000, 2_000, 60_000]);
});

test('the wait doubles, up to a bound, while connections are cut before an event', async () => {
  const cuts = Array.from({ length: 20 }, () => sendEvents(':\n\n', cut));
  const { client, waits } = await startWaiting(...cuts, sendEvents(event(1), cut), sendEvents(END));

  await idsOf(client.stream(EVENTS));

  expect(waits).toHaveLength(21);
  expect(Math.max(...waits)).toBeLessThanOrEqual(1_024);
  expect(Math.max(...waits)).toBeGreaterThan(16);
  expect(waits.at(-1)).toBeLessThanOrEqual(1);
});

/** A server that keeps its stream open, and a promise of its disconnection. */
async function startOpen() {
  const { promise, resolve } = Promise.withResolvers<void>();
  const started = await startNotes(
    sendEvents(event(1), (res) => void once(res, 'close').then(() => resolve())),
  );
  return { ...started, disconnected: promise };
}

test('a connection without a byte for a minute is replaced', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const { client, received } = await startWaiting(
    sendEvents(event(1), keepOpen),
    sendEvents(event(2) + END),
  );
  const stream = client.stream(EVENTS);
  await stream.next();

  const next = stream.next();
  await vi.advanceTimersByTimeAsync(59_000);
  expect(received).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1_000);

  expect(await next).toMatchObject({ value: { id: '2' } });
});

test('break disconnects', async () => {
  const { client, disconnected } = await startOpen();

  for await (const { id } of client.stream(EVENTS)) {
    expect(id).toBe('1');
    break;
  }

  await disconnected;
});

test.each(['signal', 'ctx'])('%s aborts a stream with its reason, and disconnects', async (by) => {
  const { client, received, disconnected } = await startOpen();
  const controller = new AbortController();
  const { signal } = controller;
  const stream = client.stream(EVENTS, by === 'signal' ? { signal } : { ctx: { signal } });
  await stream.next();
  const reason = new Error('The user has left');

  controller.abort(reason);

  expect(await errorOf(stream.next())).toBe(reason);
  await disconnected;
  expect(received).toHaveLength(1);
});

test('no event follows the abort of a stream, also if it has already arrived', async () => {
  const { client } = await startNotes(sendEvents(event(1) + event(2) + END));
  const controller = new AbortController();
  const stream = client.stream(EVENTS, { signal: controller.signal });
  await stream.next();

  controller.abort('enough');

  expect(await errorOf(stream.next())).toBe('enough');
});

test('a connection of another type that is cut before it is refused is a ProblemError', async () => {
  const { baseUrl } = await startApi((res) => {
    res.writeHead(200, { 'Content-Type': 'text/plain' }).write('half', () => res.destroy());
  });
  const client = newNotesClient({
    baseUrl,
    async intercept(_, next) {
      const response = await next();
      const reader = response.body?.getReader();
      await expect(reader?.closed).rejects.toThrow();
      reader?.releaseLock();
      return response;
    },
  });

  expect(await errorOf(idsOf(client.stream(EVENTS)))).toMatchObject({ reason: 'unreadable' });
});

test('an interceptor runs for each connection, for example to add credentials', async () => {
  const { baseUrl, received } = await startApi(
    sendEvents(event(1), cut),
    sendEvents(event(2) + END),
  );
  let tokens = 0;
  const client = newNotesClient({
    baseUrl,
    intercept({ headers }, next) {
      headers.set('authorization', `Bearer ${++tokens}`);
      return next();
    },
  });

  expect(await idsOf(client.stream(EVENTS))).toEqual(['1', '2']);
  expect(received.map(({ headers }) => headers.authorization)).toEqual(['Bearer 1', 'Bearer 2']);
});
