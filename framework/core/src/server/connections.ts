import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

import type { Logger } from '../logger.ts';

interface Connections {
  readonly sockets: Set<Socket>;
  readonly closing: AbortController;
  readonly logger: Logger;
}

const connectionsOf = new WeakMap<Server, Connections>();
const serverOf = new WeakMap<Duplex, Connections>();

/** The open connections of `server`; of a TLS connection, the socket that has the decrypted data. */
export function openSockets(server: Server): ReadonlySet<Socket> {
  return connections(server).sockets;
}

/** Aborts when `server` starts to close its connections. */
export function closingOfServer(server: Server): AbortSignal {
  return connections(server).closing.signal;
}

/** The same for the server of a connection. For other servers: a signal that never aborts. */
export function closingOfSocket(socket: Duplex): AbortSignal {
  return serverOf.get(socket)?.closing.signal ?? new AbortController().signal;
}

/** The logger of the application to which a connection belongs. */
export function loggerOfSocket(socket: Duplex): Logger | undefined {
  return serverOf.get(socket)?.logger;
}

/** Announces to requests and connections that `server` is closing. */
export function announceClosing(server: Server): void {
  connections(server).closing.abort();
}

/** Keeps track of the connections of `server` from now on. */
export function trackConnections(server: Server, logger: Logger): void {
  const sockets = new Set<Socket>();
  const tracked = { sockets, closing: new AbortController(), logger };
  connectionsOf.set(server, tracked);
  const add = (socket: Socket) => {
    sockets.add(socket);
    serverOf.set(socket, tracked);
    // Node removes its own listener before it emits `connect` and `upgrade`: without this one, a reset
    // connection would end the process.
    socket.on('error', ignore);
    socket.once('close', () => sockets.delete(socket));
  };
  server.on('connection', add);
  server.on('secureConnection', (socket: Socket) => {
    sockets.delete(tcpSocketOf(socket));
    add(socket);
  });
}

/** The TCP connection below a TLS socket; another socket is its own. Node has no public access to it. */
export function tcpSocketOf(socket: Socket): Socket {
  return (socket as { readonly _parent?: Socket | null })._parent ?? socket;
}

function ignore(): void {}

function connections(server: Server): Connections {
  const present = connectionsOf.get(server);
  if (!present) throw new TypeError('Cannot find the connections: the server is not tracked');
  return present;
}
