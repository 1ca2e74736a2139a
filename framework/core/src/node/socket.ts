import type { Socket } from 'node:net';

import { usesPrivateFields } from './http.ts';

/** The private counters of a socket: Node's public ones contain a chunk only once all of it was accepted. */
interface Counters {
  readonly bytesWritten?: unknown;
  readonly writeQueueSize?: unknown;
}

/** How many bytes the operating system has accepted on this TCP connection. */
export function countAccepted(socket: Socket): number {
  const { _handle } = socket as unknown as { readonly _handle?: Counters | null };
  const { bytesWritten, writeQueueSize } = (usesPrivateFields && _handle) || {};
  return typeof bytesWritten === 'number' && typeof writeQueueSize === 'number'
    ? bytesWritten - writeQueueSize
    : socket.bytesWritten - socket.writableLength;
}
