import type { Socket } from 'node:net';

import { privateParts } from './private-fields.ts';

/** The private fields of a socket that this file reads. */
interface SocketFields {
  readonly _parent?: Socket | null;
  readonly _handle?: { readonly bytesWritten?: unknown; readonly writeQueueSize?: unknown } | null;
}

/** The TCP connections of TLS servers, by the address of the client. */
const tcpSockets = new Map<string, Socket>();

/** For `tcpSocketOf`: keeps a TCP connection on which TLS is negotiated. */
export function keepTcpSocket(socket: Socket): void {
  if (privateParts.socket) return;
  const key = addressesOf(socket);
  tcpSockets.set(key, socket);
  socket.once('close', () => tcpSockets.delete(key));
}

/** The TCP connection below a TLS socket; another socket is its own. */
export function tcpSocketOf(socket: Socket): Socket {
  if (!('encrypted' in socket)) return socket;
  const below = privateParts.socket
    ? (socket as SocketFields)._parent
    : tcpSockets.get(addressesOf(socket));
  return below ?? socket;
}

function addressesOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return [remoteAddress, remotePort, localAddress, localPort].join(' ');
}

/**
 * How many bytes the operating system has accepted on this connection. Node's public counters contain a chunk
 * only once all of it was accepted.
 */
export function countAccepted(socket: Socket): number {
  const { _handle: handle } = tcpSocketOf(socket) as unknown as SocketFields;
  const { bytesWritten, writeQueueSize } = (privateParts.socket && handle) || {};
  return typeof bytesWritten === 'number' && typeof writeQueueSize === 'number'
    ? bytesWritten - writeQueueSize
    : socket.bytesWritten - socket.writableLength;
}
