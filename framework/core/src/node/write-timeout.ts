import type { Server } from 'node:http';
import type { Socket } from 'node:net';

import { usesPrivateFields } from './http.ts';

/** How many times a connection is checked during the time-out. */
const CHECKS = 10;

interface Progress {
  acceptedBytes: number;
  checks: number;
}

/**
 * Resets connections of `server` if the operating system accepts none of the queued data for
 * `timeoutMs`, because the client does not read. `sockets` has the TCP connection of each. One timer checks
 * all connections. It counts checks instead of time: after a pause of this process, clients still have time
 * to read.
 */
export function limitWriteTime(
  server: Server,
  sockets: ReadonlyMap<Socket, Socket>,
  timeoutMs: number,
): void {
  const progress = new WeakMap<Socket, Progress>();
  const check = (): void => {
    for (const [socket, tcp] of sockets) {
      if (socket.writableLength === 0 || !isStalled(tcp)) continue;
      // Also discards the buffers of the operating system, which destroy() alone would still send.
      if (!('encrypted' in tcp)) tcp.resetAndDestroy();
      socket.destroy();
    }
  };
  const isStalled = (tcp: Socket): boolean => {
    const acceptedBytes = countAccepted(tcp);
    const last = progress.get(tcp);
    if (last?.acceptedBytes !== acceptedBytes) {
      progress.set(tcp, { acceptedBytes, checks: 0 });
      return false;
    }
    last.checks++;
    return last.checks >= CHECKS;
  };
  server.once('listening', () => {
    const timer = setInterval(check, Math.ceil(timeoutMs / CHECKS)).unref();
    server.once('close', () => clearInterval(timer));
  });
}

/** The private counters of a socket: Node's public ones contain a chunk only once all of it was accepted. */
interface Counters {
  readonly bytesWritten?: unknown;
  readonly writeQueueSize?: unknown;
}

/** How many bytes the operating system has accepted on this TCP connection. */
function countAccepted(socket: Socket): number {
  const { _handle } = socket as unknown as { readonly _handle?: Counters | null };
  const { bytesWritten, writeQueueSize } = (usesPrivateFields && _handle) || {};
  return typeof bytesWritten === 'number' && typeof writeQueueSize === 'number'
    ? bytesWritten - writeQueueSize
    : socket.bytesWritten - socket.writableLength;
}
