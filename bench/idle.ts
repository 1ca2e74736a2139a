import type { Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';

import { markdownTable } from '../deploy/local/testing/markdown.ts';
import { loadContestants, namesWith, type Route } from './contestant.ts';
import { startContestant } from './contestant-process.ts';
import { exchangesOf } from './http/workloads.ts';
import { runWrk } from './http/wrk.ts';
import { EVENT_MS, measureMemory, medianBytes, openConnection, openConnections } from './memory.ts';
import { readSettings } from './options.ts';
import { PINNING, pinToLoadCore } from './process.ts';
import { publish } from './report.ts';

const PACKAGES = ['fastify', 'hono', '@hono/node-server', 'h3', 'koa', 'express'];
const ROUTES: readonly Route[] = ['hello', 'list', 'post', 'events'];

const KINDS = { 'keep-alive': openIdle, events: openEvents, upload: openUpload };

/** Longer pauses are counted. */
const PAUSE_MS = 10;

/** Measures idle and slow connections and pauses of garbage collection, and prints a report. */
export async function runIdle(args: readonly string[]): Promise<void> {
  const contestants = await loadContestants();
  const settings = readSettings(args, {
    summary: 'Compares the memory of idle and slow connections, and pauses of garbage collection.',
    names: {
      only: { help: 'contestants', known: namesWith(contestants, ...ROUTES) },
      kinds: { help: 'kinds of connections', known: Object.keys(KINDS) },
    },
    counts: {
      connections: {
        help: 'idle connections; a tenth as many event streams and uploads',
        default: 10_000,
      },
      rounds: { help: 'measured rounds of memory', default: 3 },
      minutes: { help: 'duration of the load by GET and POST', default: 1 },
    },
  });
  if (!settings) return;
  const { only, kinds } = settings.names;
  const { connections, rounds, minutes } = settings.counts;
  const slow = Math.ceil(connections / 10);

  pinToLoadCore(); // this process opens the connections
  const loads: (Pauses & { readonly name: string })[] = [];
  for (const name of only) {
    process.stderr.write(`idle, pauses under load: ${name}\n`);
    loads.push({ name, ...(await measurePauses(name, { minutes, streams: slow })) });
  }
  const samples = await measureMemory({
    section: 'idle',
    rounds,
    names: only,
    kinds: Object.fromEntries(
      Object.entries(KINDS)
        .filter(([kind]) => kinds.includes(kind))
        .map(([kind, open]) => {
          return [kind, { routes: ROUTES, open, count: open === openIdle ? connections : slow }];
        }),
    ),
  });
  const rows = loads.map(({ name, requests, pauses }) => [
    name,
    ...kinds.map((kind) => medianBytes(samples, name, kind).join(' / ')),
    String(pauses.filter((pause) => pause > PAUSE_MS).length),
    Math.max(0, ...pauses).toFixed(1),
    ((pauses.reduce((sum, pause) => sum + pause, 0) * 1000) / requests).toFixed(2),
  ]);
  const lines = [
    `Bytes per connection, objects and buffers / process, of ${connections} idle connections, ${slow} event streams ` +
      `and ${slow} slow uploads; medians of ${rounds} rounds. Pauses of garbage collection ` +
      `under load for ${minutes} min, in CPU time; ${PINNING}. Less is better.`,
    markdownTable(
      ['', ...kinds, `pauses above ${PAUSE_MS} ms`, 'longest pause, ms', 'pauses, µs per request'],
      rows,
    ),
  ];
  publish({ name: 'idle', packages: PACKAGES, lines, data: { samples, loads } }, settings);
}

interface Pauses {
  /** Requests that the server has handled, without event streams. */
  readonly requests: number;
  readonly pauses: readonly number[];
}

/** Sends GET and POST on 16 connections each, while event streams are open. */
async function measurePauses(
  name: string,
  { minutes, streams: count }: { readonly minutes: number; readonly streams: number },
): Promise<Pauses> {
  const { port, request, stop } = await startContestant(name, ROUTES, { eventMs: EVENT_MS });
  const streams = await openConnections(count, () => openEvents(port));
  try {
    await request('watchPauses');
    const counts = await Promise.all(
      [[...exchangesOf('hello'), ...exchangesOf('list')], exchangesOf('post')].map((requests) =>
        runWrk({ port, requests, connections: 16, seconds: minutes * 60 }),
      ),
    );
    const pauses = await request('pauses');
    return { pauses, requests: counts.reduce((sum, requests) => sum + requests, 0) };
  } finally {
    await stop();
    for (const stream of streams) stream.destroy();
  }
}

function head(method: string, path: string, ...headers: readonly string[]): string {
  return [`${method} ${path} HTTP/1.1`, 'Host: bench', ...headers, '\r\n'].join('\r\n');
}

function openIdle(port: number): Promise<Socket> {
  const until = (received: string) => received.endsWith('{"hello":"world"}');
  return openConnection(port, [{ send: head('GET', '/'), until }]);
}

function openEvents(port: number): Promise<Socket> {
  const until = (received: string) => received.includes('data: tick');
  return openConnection(port, [{ send: head('GET', '/events'), until }]);
}

/** An upload of 16 bytes per second; resolves once the server has received some of them. */
async function openUpload(port: number): Promise<Socket> {
  const send = head(
    'POST',
    '/users',
    'Content-Type: application/json',
    `Content-Length: ${1024 ** 2}`,
    'Expect: 100-continue',
  );
  const until = (received: string) => received.startsWith('HTTP/1.1 100 ');
  const socket = await openConnection(port, [{ send, until }]);
  socket.write('{"a":"');
  const timer = setInterval(() => socket.write('aaaa'), 250);
  socket.on('close', () => clearInterval(timer));
  await setTimeout(600);
  return socket;
}
