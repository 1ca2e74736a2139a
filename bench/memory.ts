import { connect, type Socket } from 'node:net';

import { median } from '../deploy/local/testing/statistics.ts';
import type { Route } from './contestant.ts';
import { startContestant } from './contestant-process.ts';
import type { Memory } from './measured.ts';

/** The time between two events of a stream. */
export const EVENT_MS = 5_000;

/** What a client sends, and how the data that it then receives begins or ends. */
export interface Step {
  readonly send: string | Buffer;
  readonly until: (received: string) => boolean;
}

/** Opens a connection, without memory of its own for each response, and performs the steps in turn. */
export function openConnection(port: number, steps: readonly Step[]): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let at = 0;
    let received = '';
    socket.on('error', reject).write(steps[0]?.send ?? '');
    socket.on('close', () => reject(new Error(`The server closed a connection: ${received}`)));
    socket.on('data', (data) => {
      if (at === steps.length) return;
      received += data.toString('latin1');
      if (!steps[at]?.until(received)) return;
      received = '';
      at++;
      const next = steps[at];
      if (next) socket.write(next.send);
      else resolve(socket);
    });
  });
}

/** Opens `count` connections, a hundred at once. */
export async function openConnections(count: number, open: () => Promise<Socket>) {
  const sockets: Socket[] = [];
  while (sockets.length < count) {
    const missing = Math.min(100, count - sockets.length);
    sockets.push(...(await Promise.all(Array.from({ length: missing }, open))));
  }
  return sockets;
}

/** A kind of connections. */
export interface Kind {
  /** The routes of the contestant. */
  readonly routes: readonly Route[];
  readonly open: (port: number) => Promise<Socket>;
  readonly count: number;
}

/** The memory per open connection, in bytes. */
export interface Sample extends Memory {
  readonly name: string;
  readonly kind: string;
}

export interface MemoryOptions {
  /** The section, for messages of progress. */
  readonly section: string;
  readonly rounds: number;
  /** The contestants. */
  readonly names: readonly string[];
  readonly kinds: Readonly<Record<string, Kind>>;
}

/** Measures every kind of connections of every contestant in each round. */
export async function measureMemory(options: MemoryOptions): Promise<readonly Sample[]> {
  const { section, rounds, names, kinds } = options;
  const samples: Sample[] = [];
  for (let round = 1; round <= rounds; round++) {
    for (const name of names) {
      for (const [kind, connections] of Object.entries(kinds)) {
        process.stderr.write(`${section}, round ${round}: ${name} ${kind}\n`);
        samples.push({ name, kind, ...(await memoryPerConnection(name, connections)) });
      }
    }
  }
  return samples;
}

/** @throws {Error} if the server closed a connection */
async function memoryPerConnection(name: string, { routes, open, count }: Kind): Promise<Memory> {
  const options = { isMemoryMeasured: true, eventMs: EVENT_MS };
  const { port, request, stop } = await startContestant(name, routes, options);
  const sockets: Socket[] = [];
  const openMore = async (more: number) => {
    sockets.push(...(await openConnections(more, () => open(port))));
  };
  try {
    await openMore(100); // code and caches that all connections share
    const before = await request('memory');
    await openMore(count);
    const after = await request('memory');
    const closed = sockets.filter(({ readyState }) => readyState !== 'open').length;
    if (closed > 0) throw new Error(`${name} closed ${closed} connections`);
    return { rss: (after.rss - before.rss) / count, used: (after.used - before.used) / count };
  } finally {
    await stop(); // before the clients: it would log that they disconnected
    for (const socket of sockets) socket.destroy();
  }
}

/** Medians of a contestant with one kind, as text: objects and buffers, and the process. */
export function medianBytes(samples: readonly Sample[], name: string, kind: string) {
  const own = samples.filter((sample) => sample.name === name && sample.kind === kind);
  const [used = '', rss = ''] = (['used', 'rss'] as const).map((key) =>
    Math.round(median(own.map((sample) => sample[key]))).toLocaleString('en'),
  );
  return [used, rss];
}
