import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

interface Connections {
  readonly sockets: Set<Socket>;
  readonly closing: AbortController;
}

const connectionsOf = new WeakMap<Server, Connections>();
const closingOf = new WeakMap<Duplex, AbortSignal>();

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
  return closingOf.get(socket) ?? new AbortController().signal;
}

/** Announces to requests and connections that `server` is closing. */
export function announceClosing(server: Server): void {
  connections(server).closing.abort();
}

/** Keeps track of the connections of `server` from now on. */
export function trackConnections(server: Server): void {
  const sockets = new Set<Socket>();
  const closing = new AbortController();
  connectionsOf.set(server, { sockets, closing });
  const add = (socket: Socket) => {
    sockets.add(socket);
    closingOf.set(socket, closing.signal);
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

function connections(server: Server): Connections {
  const present = connectionsOf.get(server);
  if (!present) throw new TypeError('Cannot find the connections: the server is not tracked');
  return present;
}
