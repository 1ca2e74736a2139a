import { connect, type Socket } from 'node:net';

import { median } from '../deploy/local/testing/statistics.ts';
import type { Memory } from './measured.ts';
import { startMeasured } from './process.ts';

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

export interface MemoryOptions {
  readonly connections: number;
  readonly open: (port: number) => Promise<Socket>;
}

/**
 * The memory per open connection of a server, which `args` start and which replies with its memory.
 *
 * @throws {Error} if the server closed a connection
 */
export async function memoryPerConnection(
  args: readonly string[],
  { connections, open }: MemoryOptions,
): Promise<Memory> {
  const {
    ready: port,
    request,
    stop,
  } = await startMeasured<number, Memory>('--expose-gc', ...args);
  const sockets: Socket[] = [];
  const openMore = async (count: number) => {
    sockets.push(...(await openConnections(count, () => open(port))));
  };
  try {
    await openMore(100); // code and caches that all connections share
    const before = await request();
    await openMore(connections);
    const after = await request();
    const closed = sockets.filter(({ readyState }) => readyState !== 'open').length;
    if (closed > 0) throw new Error(`${args.join(' ')} closed ${closed} connections`);
    return {
      rss: (after.rss - before.rss) / connections,
      used: (after.used - before.used) / connections,
    };
  } finally {
    await stop(); // before the clients: it would log that they disconnected
    for (const socket of sockets) socket.destroy();
  }
}

/** The median of numbers of bytes, as text. */
export function bytes(values: readonly number[]): string {
  return Math.round(median(values)).toLocaleString('en');
}
