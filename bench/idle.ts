import type { Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { markdownTable } from '../deploy/local/testing/markdown.ts';
import { exchangesOf } from './http/workloads.ts';
import { runWrk } from './http/wrk.ts';
import { CONTESTANTS } from './idle/contestants.ts';
import type { Usage } from './idle/server.ts';
import type { Memory } from './measured.ts';
import { bytes, memoryPerConnection, openConnection, openConnections } from './memory.ts';
import { readSettings } from './options.ts';
import { PINNING, pinToLoadCore, startMeasured } from './process.ts';
import { describeEnvironment, environmentLines, publish } from './report.ts';

const SERVER = fileURLToPath(new URL('idle/server.ts', import.meta.url));
const PACKAGES = ['fastify', 'hono', '@hono/node-server', 'h3', 'koa', 'express'];

/** The kinds of connections. */
const KINDS: Readonly<Record<string, (port: number) => Promise<Socket>>> = {
  'keep-alive': (port) =>
    openConnection(port, [
      { send: head('GET', '/'), until: (received) => received.endsWith('{"hello":"world"}') },
    ]),
  events: openEvents,
  upload: openUpload,
};

function openEvents(port: number): Promise<Socket> {
  return openConnection(port, [
    { send: head('GET', '/events'), until: (received) => received.includes('data: tick') },
  ]);
}

/** Longer pauses are counted. */
const PAUSE_MS = 10;

/** Measures idle and slow connections and pauses of garbage collection, and prints a report. */
export async function runIdle(args: readonly string[]): Promise<void> {
  const settings = readSettings(args, {
    summary: 'Compares the memory of idle and slow connections, and pauses of garbage collection.',
    names: {
      only: { help: 'contestants', known: Object.keys(CONTESTANTS) },
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
  const { rounds } = settings.counts;
  const environment = describeEnvironment(PACKAGES);
  pinToLoadCore(); // this process opens the connections
  const loads: LoadSample[] = [];
  for (const name of only) {
    process.stderr.write(`idle, pauses under load: ${name}\n`);
    loads.push({ name, ...(await measurePauses(name, settings.counts)) });
  }
  const samples: Sample[] = [];
  for (let round = 0; round < rounds; round++) {
    for (const name of only) {
      for (const kind of kinds) {
        process.stderr.write(`idle, round ${round + 1}: ${name} ${kind}\n`);
        const connections = countOf(kind, settings.counts.connections);
        const open = KINDS[kind] as (typeof KINDS)[string];
        samples.push({
          name,
          kind,
          ...(await memoryPerConnection([SERVER, name], { connections, open })),
        });
      }
    }
  }
  const rows = loads.map(({ name, requests, pauses }) => [
    name,
    ...kinds.map((kind) => {
      const own = samples.filter((sample) => sample.name === name && sample.kind === kind);
      return `${bytes(own.map(({ used }) => used))} / ${bytes(own.map(({ rss }) => rss))}`;
    }),
    String(pauses.filter((pause) => pause > PAUSE_MS).length),
    Math.max(0, ...pauses).toFixed(1),
    ((pauses.reduce((sum, pause) => sum + pause, 0) * 1000) / requests).toFixed(2),
  ]);
  const table = markdownTable(
    ['', ...kinds, `pauses above ${PAUSE_MS} ms`, 'longest pause, ms', 'pauses, µs per request'],
    rows,
  );
  publish(
    {
      name: 'idle',
      markdown: [environmentLines(environment), describe(settings.counts), table].join('\n\n'),
      data: { environment, samples, loads },
    },
    settings,
  );
}

interface Sample extends Memory {
  readonly name: string;
  readonly kind: string;
}

interface LoadSample extends Pauses {
  readonly name: string;
}

interface Pauses {
  /** Requests that the server has handled, without event streams. */
  readonly requests: number;
  readonly pauses: readonly number[];
}

function countOf(kind: string, connections: number): number {
  return kind === 'keep-alive' ? connections : Math.ceil(connections / 10);
}

function describe({
  connections,
  rounds,
  minutes,
}: Readonly<Record<'connections' | 'rounds' | 'minutes', number>>): string {
  const count = countOf('events', connections);
  return (
    `Bytes per connection, objects and buffers / process, of ${connections} idle connections, ${count} event streams ` +
    `and ${count} slow uploads; medians of ${rounds} rounds. Pauses of garbage collection ` +
    `under load for ${minutes} min, in CPU time; ${PINNING}. Less is better.`
  );
}

/** Sends GET and POST on 16 connections each, while event streams are open. */
async function measurePauses(
  name: string,
  { minutes, connections }: { readonly minutes: number; readonly connections: number },
): Promise<Pauses> {
  const { ready: port, request, stop } = await startMeasured<number, Usage>(SERVER, name);
  const url = `http://127.0.0.1:${port}`;
  const streams = await openConnections(countOf('events', connections), () => openEvents(port));
  try {
    const results = await Promise.all(
      [[...exchangesOf('hello'), ...exchangesOf('list')], exchangesOf('post')].map((requests) =>
        runWrk({ url, requests, connections: 16, seconds: minutes * 60 }),
      ),
    );
    const { pauses } = await request();
    return { pauses, requests: results.reduce((sum, { requests }) => sum + requests, 0) };
  } finally {
    await stop();
    for (const stream of streams) stream.destroy();
  }
}

function head(method: string, path: string, ...headers: readonly string[]): string {
  return [`${method} ${path} HTTP/1.1`, 'Host: bench', ...headers, '\r\n'].join('\r\n');
}

const UPLOAD_HEAD = head(
  'POST',
  '/users',
  'Content-Type: application/json',
  `Content-Length: ${1024 ** 2}`,
  'Expect: 100-continue',
);

/** An upload of 16 bytes per second; resolves once the server has received some of them. */
async function openUpload(port: number): Promise<Socket> {
  const socket = await openConnection(port, [
    { send: UPLOAD_HEAD, until: (received) => received.startsWith('HTTP/1.1 100 ') },
  ]);
  socket.write('{"a":"');
  const timer = setInterval(() => socket.write('aaaa'), 250);
  socket.on('close', () => clearInterval(timer));
  await setTimeout(600);
  return socket;
}
