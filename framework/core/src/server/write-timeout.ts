import type { Server } from 'node:http';
import type { Socket } from 'node:net';

import { countAccepted } from '../node/socket.ts';
import { tcpSocketOf } from './registry.ts';

/** How many times a connection is checked during the time-out. */
const CHECKS = 10;

interface Progress {
  acceptedBytes: number;
  checks: number;
}

/**
 * Resets connections of `server` if the operating system accepts none of the queued data for
 * `timeoutMs`, because the client does not read. One timer checks all connections. It counts checks
 * instead of time: after a pause of this process, clients still have time to read.
 */
export function limitWriteTime(
  server: Server,
  sockets: ReadonlySet<Socket>,
  timeoutMs: number,
): void {
  const progress = new WeakMap<Socket, Progress>();
  const check = (): void => {
    for (const socket of sockets) {
      if (socket.writableLength > 0 && isStalled(socket)) reset(socket);
    }
  };
  const isStalled = (socket: Socket): boolean => {
    const acceptedBytes = countAccepted(tcpSocketOf(socket));
    const last = progress.get(socket);
    if (last?.acceptedBytes !== acceptedBytes) {
      progress.set(socket, { acceptedBytes, checks: 0 });
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

/** Also discards the buffers of the operating system, which `destroy()` would still send. */
function reset(socket: Socket): void {
  const tcp = tcpSocketOf(socket);
  if (!('encrypted' in tcp)) tcp.resetAndDestroy(); // destroy() alone would wait until all data is sent
  socket.destroy();
}
