import { EventEmitter, once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';

import { createApp, listen } from '@fw/core';
import { openConnection } from '@fw/core/testing';
import { getRequestListener } from '@hono/node-server';
import { createSession } from 'better-sse';
import { Hono } from 'hono';
import { streamSSE } from 'hono/streaming';
import { expect, test, vi } from 'vitest';

import { expectSection, markdownTable } from '../../../../deploy/local/testing/markdown.ts';
import { sse } from './sse.ts';

const README = join(import.meta.dirname, '../../README.md');

interface Event {
  readonly data: string;
  readonly event?: string;
}

interface Running {
  readonly port: number;
  close(): unknown;
}

/** Starts a server that sends `events` to each client and ends the stream, or keeps it open. */
type Start = (events: () => Iterable<Event>, stays: boolean) => Promise<Running>;

const never = () => new Promise<never>(() => {});

async function serve(listener: RequestListener): Promise<Running> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { port, close: () => server.close() };
}

const STARTS: Readonly<Record<string, Start>> = {
  fw: (events, stays) => {
    const app = createApp({ logger: { info() {}, warn() {}, error() {} } }).use(
      sse(async function* (_, { signal }) {
        yield* events();
        if (stays) await once(new EventEmitter(), 'never', { signal });
      }),
    );
    return listen(app, 0);
  },
  'hono streamSSE': (events, stays) => {
    const app = new Hono().get('/', (c) =>
      streamSSE(c, async (stream) => {
        for (const event of events()) await stream.writeSSE(event);
        if (stays) await never();
      }),
    );
    return serve(getRequestListener(app.fetch));
  },
  'better-sse': (events, stays) =>
    serve(async (req, res) => {
      const session = await createSession(req, res);
      for (const { data, event } of events()) session.push(data, event);
      if (!stays) res.end();
    }),
};

const GET = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';

/** The value of a response header, or "none". */
async function headerOf(start: Start, name: string): Promise<string> {
  const { port, close } = await start(() => [{ data: 'x' }], false);
  const { headers } = await fetch(`http://127.0.0.1:${port}`);
  close();
  return headers.has(name) ? `\`${headers.get(name)}\`` : 'none';
}

/** The lines of one event that name the event or contain data. */
async function linesOf(start: Start, event: Event): Promise<string> {
  const { port, close } = await start(() => [event], false);
  const text = await (await fetch(`http://127.0.0.1:${port}`)).text().catch(() => '');
  close();
  const lines = text.split('\n').filter((line) => /^(?:event|data):/.test(line));
  return lines.length > 0 ? lines.map((line) => `\`${line}\``).join(' ') : 'rejected';
}

/** What happens to an open stream when its server closes. */
async function closingOf(start: Start): Promise<string> {
  const { port, close } = await start(() => [{ data: 'x' }], true);
  const client = openConnection(port).send(GET);
  await client.read(/data/);
  close();
  let isEnded = false;
  const ended = client.readAll().then(() => {
    isEnded = true;
  });
  await vi.waitFor(() => expect(isEnded).toBe(true), { timeout: 1_500 }).catch(() => {});
  const outcome = isEnded ? 'ends' : 'stays open';
  client.close();
  await ended;
  return outcome;
}

const MANY = 64;

/** How a server treats 64 MB of events for a client that does not read them. */
async function pressureOf(start: Start): Promise<string> {
  let created = 0;
  const events = function* () {
    for (; created < MANY; created++) yield { data: 'x'.repeat(1024 ** 2) };
  };
  const { port, close } = await start(events, true);
  const client = connect(port, '127.0.0.1').on('error', () => {});
  client.write(GET);
  await vi.waitFor(() => expect(created).toBe(MANY), { timeout: 1_500 }).catch(() => {});
  const outcome = created === MANY ? 'buffers all' : 'waits';
  client.destroy();
  close();
  return outcome;
}

test('the README compares event streams', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {}); // hono prints errors
  const cases: readonly (readonly [string, (start: Start) => Promise<string>])[] = [
    ['`Content-Type`', (start) => headerOf(start, 'content-type')],
    ['`Cache-Control`', (start) => headerOf(start, 'cache-control')],
    ['`X-Accel-Buffering`', (start) => headerOf(start, 'x-accel-buffering')],
    ['data `a\\nb`', (start) => linesOf(start, { data: 'a\nb' })],
    ['event `a\\ndata: b`', (start) => linesOf(start, { data: 'x', event: 'a\ndata: b' })],
    ['open stream, the server closes', closingOf],
    ['64 MB, the client does not read', pressureOf],
  ];
  const rows: string[][] = [];
  for (const [title, measure] of cases) {
    const row = [title];
    for (const start of Object.values(STARTS)) row.push(await measure(start));
    rows.push(row);
  }

  expect(rows.slice(-3).map(([, fw]) => fw)).toEqual(['rejected', 'ends', 'waits']);
  expectSection(README, 'sse-peers', markdownTable(['', ...Object.keys(STARTS)], rows));
});
