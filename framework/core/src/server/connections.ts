import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

import type { Context } from '../context.ts';
import { createEndWatch } from '../node/socket-end.ts';

/** The connections of one server. */
export interface Connections {
  /**
   * Those that are open, each with its TCP connection: the same socket, or with TLS the one below the
   * socket that has the decrypted data.
   */
  readonly sockets: Map<Socket, Socket>;
  /** Aborts when the server starts to close its connections. */
  readonly closing: AbortSignal;
  readonly announceClosing: () => void;
}

/** A connection after an upgrade. */
export interface UpgradedConnection {
  /** Asks the client to disconnect, because the server is about to close. */
  goAway(): void;
  /** Resolves with the code of the protocol when the connection is closed; never rejects. */
  readonly closed: Promise<number>;
}

const connectionsOf = new WeakMap<Server, Connections>();

/** Properties of a connection, which take less memory than an entry of a `Map`. */
const SERVER = Symbol('server');
const UPGRADED = Symbol('upgraded');

interface Connection {
  [SERVER]?: Connections;
  [UPGRADED]?: UpgradedConnection;
}

/** The connections of the server to which `socket` belongs; `undefined` for other servers. */
export function connectionsOfSocket(socket: Duplex): Connections | undefined {
  return (socket as Connection)[SERVER];
}

/** Records that `socket` has left HTTP, and that `connection` wants to close it itself. */
export function rememberUpgrade(socket: Duplex, connection: UpgradedConnection): void {
  (socket as Connection)[UPGRADED] = connection;
}

/** What `rememberUpgrade` has recorded. */
export function upgradeOf(socket: Duplex): UpgradedConnection | undefined {
  return (socket as Connection)[UPGRADED];
}

/**
 * For responses without an end, such as event streams: aborts when the server that received the request
 * starts to close its connections. Never aborts for servers that `listen` has not started.
 */
export function closingSignal(ctx: Context): AbortSignal {
  const { socket } = ctx.raw.req;
  // A dispatched request belongs to the server of its client.
  const { client = socket } = socket as { readonly client?: Duplex };
  return connectionsOfSocket(client)?.closing ?? new AbortController().signal;
}

/** Keeps track of the connections of `server` from now on. */
export function trackConnections(server: Server): Connections {
  const sockets = new Map<Socket, Socket>();
  const abort = new AbortController();
  const announceClosing = () => abort.abort();
  const closing = abort.signal;
  const tracked: Connections = { sockets, closing, announceClosing };
  connectionsOf.set(server, tracked);
  const watchEnd = createEndWatch((socket) => sockets.delete(socket));
  const add = (socket: Socket, tcp = socket) => {
    sockets.set(socket, tcp);
    (socket as Connection)[SERVER] = tracked;
    watchEnd(socket);
  };
  server.on('connection', (socket: Socket) => {
    if ('setSecureContext' in server) keepTcpSocket(socket);
    add(socket);
  });
  server.on('secureConnection', (socket: Socket) => {
    const tcp = tcpSockets.get(addressesOf(socket));
    if (tcp) sockets.delete(tcp);
    add(socket, tcp);
  });
  return tracked;
}

/** The TCP connections of TLS servers, by their addresses: Node has no public access to that of a TLS socket. */
const tcpSockets = new Map<string, Socket>();

function keepTcpSocket(socket: Socket): void {
  const key = addressesOf(socket);
  tcpSockets.set(key, socket);
  socket.once('close', () => {
    if (tcpSockets.get(key) === socket) tcpSockets.delete(key);
  });
}

function addressesOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return [remoteAddress, remotePort, localAddress, localPort].join(' ');
}

/** The connections of a server that `createServer` has created. */
export function connections(server: Server): Connections {
  return connectionsOf.get(server)!;
}
