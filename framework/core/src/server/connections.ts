import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Logger } from '../logger.ts';
import { milliseconds, readOptions } from '../options.ts';

export interface CloseOptions {
  /**
   * How long idle connections may send another request after the port is closed. The clients of
   * WebSocket routes are asked to disconnect one after the other during this time. Default 0.
   */
  readonly lingerMs?: number;
  /** Time limit after which all open connections are destroyed. Default 30 s; 0: no limit. */
  readonly timeoutMs?: number;
}

/** How long a client may take to complete a request head that it has started to send. */
const HEAD_MS = 1_000;

/** Time limit for accepting connections that wait at the port. */
const ACCEPT_MS = 1_000;

const SWEEP_MS = 50;

/**
 * Stops accepting connections, waits until every response is sent, and resolves when every connection
 * is closed. Responses that are incomplete at the time limit are logged.
 */
export function closeServer(
  server: Server,
  logger: Logger,
  options: CloseOptions = {},
): Promise<void> {
  const { lingerMs = 0, timeoutMs = 30_000 } = readOptions('close()', options, {
    lingerMs: milliseconds,
    timeoutMs: milliseconds,
  });
  const endMs = timeoutMs === 0 ? Number.POSITIVE_INFINITY : performance.now() + timeoutMs;
  const close = async (): Promise<void> => {
    await acceptWaiting(server, endMs);
    const lingerEndMs = performance.now() + lingerMs;
    const incomplete = await closeConnections(server, { lingerEndMs, endMs });
    if (incomplete > 0) {
      logger.warn(
        `close() reached its limit of ${Math.ceil(timeoutMs)} ms; incomplete responses: ${incomplete}`,
      );
    }
  };
  return close();
}

/**
 * Resolves after two turns of the event loop without a new connection. Each turn accepts one; the
 * operating system resets connections that still wait when the port closes.
 */
async function acceptWaiting(server: Server, endMs: number): Promise<void> {
  const acceptEndMs = Math.min(endMs, performance.now() + ACCEPT_MS);
  let quietTurns = 0;
  const onConnection = () => {
    quietTurns = 0;
  };
  server.on('connection', onConnection);
  while (quietTurns < 2 && performance.now() < acceptEndMs) {
    quietTurns++;
    await new Promise((resolve) => setImmediate(resolve));
  }
  server.off('connection', onConnection);
}

interface Deadlines {
  /** Until then, idle connections may send another request. */
  readonly lingerEndMs: number;
  /** Then all connections are destroyed. */
  readonly endMs: number;
}

/** Resolves with the number of responses that were incomplete at the time limit. */
function closeConnections(server: Server, { lingerEndMs, endMs }: Deadlines): Promise<number> {
  return new Promise((resolve, reject) => {
    const { sockets, announceClosing, upgraded } = connections(server);
    let incomplete = 0;
    const closeIdleConnections = takeCloseIdleConnections(server);
    const sweep = setInterval(() => {
      const nowMs = performance.now();
      if (nowMs >= endMs) {
        incomplete += [...sockets].filter(isSending).length;
        for (const socket of sockets) socket.destroy();
      } else if (nowMs >= lingerEndMs + HEAD_MS) {
        for (const socket of sockets) if (!isSending(socket)) socket.destroy();
      } else if (nowMs >= lingerEndMs && ![...sockets].some(isUnsent)) {
        closeIdleConnections();
      }
    }, SWEEP_MS);
    announceClosing();
    dismiss(upgraded, Math.max(0, Math.min(lingerEndMs, endMs) - performance.now()));
    for (const socket of sockets) {
      const response = currentResponse(socket);
      if (response && !response.headersSent) response.setHeader('Connection', 'close');
    }
    server.close((error) => {
      clearInterval(sweep);
      if (error) reject(error);
      else resolve(incomplete);
    });
  });
}

/** Asks clients to disconnect, one after the other for `durationMs`: they do not all return at once. */
function dismiss(upgraded: ReadonlyMap<Duplex, UpgradedConnection>, durationMs: number): void {
  let at = 0;
  for (const connection of upgraded.values()) {
    setTimeout(() => connection.goAway(), (durationMs * at) / upgraded.size).unref();
    at++;
  }
}

/**
 * Prevents `server.close()` from closing idle connections at once, and returns a function that closes
 * them. Node treats a connection as idle as soon as its response is written, even if the client has
 * not received it, and a proxy may be sending a request on an idle connection.
 */
function takeCloseIdleConnections(server: Server): () => void {
  const close = server.closeIdleConnections.bind(server);
  server.closeIdleConnections = () => {};
  return close;
}

/** Whether the response on this connection is not completely sent. */
function isSending(socket: Socket): boolean {
  return currentResponse(socket) !== undefined || socket.writableLength > 0;
}

/** Whether a response is written, but not completely sent: Node treats the connection as idle. */
function isUnsent(socket: Socket): boolean {
  return currentResponse(socket)?.writableEnded ?? socket.writableLength > 0;
}

/** The connections of one server. */
interface Connections {
  /** Those that are open; of a TLS connection, the socket that has the decrypted data. */
  readonly sockets: Set<Socket>;
  /** Aborts when the server starts to close its connections. */
  readonly closing: AbortSignal;
  readonly announceClosing: () => void;
  readonly logger: Logger;
  /** Those that have left HTTP, and whose handler wants to close them itself. */
  readonly upgraded: Map<Duplex, UpgradedConnection>;
}

/** A connection after an upgrade. */
export interface UpgradedConnection {
  /** Asks the client to disconnect, because the server is about to close. */
  goAway(): void;
  /** Resolves with the code of the protocol when the connection is closed; never rejects. */
  readonly closed: Promise<number>;
}

const connectionsOf = new WeakMap<Server, Connections>();
const serverOf = new WeakMap<Duplex, Connections>();

/** Aborts when `server` starts to close its connections. */
export function closingOfServer(server: Server): AbortSignal {
  return connections(server).closing;
}

/** The connections of the server to which `socket` belongs; `undefined` for other servers. */
export function connectionsOfSocket(socket: Duplex): Connections | undefined {
  return serverOf.get(socket);
}

/** The same for the server of a connection. For other servers: a signal that never aborts. */
export function closingOfSocket(socket: Duplex): AbortSignal {
  return trackedOf(socket)?.closing ?? new AbortController().signal;
}

/** The logger of the application to which a connection belongs. */
export function loggerOfSocket(socket: Duplex): Logger | undefined {
  return trackedOf(socket)?.logger;
}

/** The server of a connection. That of a dispatched request belongs to the server of its client. */
function trackedOf(socket: Duplex): Connections | undefined {
  return serverOf.get((socket as { readonly client?: Duplex }).client ?? socket);
}

/** Keeps track of the connections of `server` from now on. */
export function trackConnections(server: Server, logger: Logger): Connections {
  const sockets = new Set<Socket>();
  const abort = new AbortController();
  const announceClosing = () => abort.abort();
  const closing = abort.signal;
  const tracked: Connections = { sockets, closing, announceClosing, logger, upgraded: new Map() };
  connectionsOf.set(server, tracked);
  const add = (socket: Socket) => {
    sockets.add(socket);
    serverOf.set(socket, tracked);
    // Node removes its own listener before it emits `connect` and `upgrade`: without this one, a reset
    // connection would end the process.
    socket.on('error', ignore);
    socket.on('close', forget);
  };
  server.on('connection', add);
  server.on('secureConnection', (socket: Socket) => {
    sockets.delete(tcpSocketOf(socket));
    add(socket);
  });
  return tracked;
}

/** The response that is currently sent on this connection. */
export function currentResponse(socket: Duplex): ServerResponse | undefined {
  return (socket as { readonly _httpMessage?: ServerResponse | null })._httpMessage ?? undefined;
}

/** The TCP connection below a TLS socket; another socket is its own. Node has no public access to it. */
export function tcpSocketOf(socket: Socket): Socket {
  return (socket as { readonly _parent?: Socket | null })._parent ?? socket;
}

function ignore(): void {}

function forget(this: Socket): void {
  const { sockets, upgraded } = serverOf.get(this) ?? {};
  sockets?.delete(this);
  upgraded?.delete(this);
}

function connections(server: Server): Connections {
  const present = connectionsOf.get(server);
  if (!present) throw new TypeError('Cannot find the connections: the server is not tracked');
  return present;
}

/** How many times a connection is checked during the time-out. */
const CHECKS = 10;

/** Counters of a Node socket that have no public access: bytes written, and bytes still queued. */
interface SocketHandle {
  readonly bytesWritten: number;
  readonly writeQueueSize: number;
}

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
    const acceptedBytes = countAccepted(socket);
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
  tcpSocketOf(socket).resetAndDestroy(); // without destroy(), it would wait until all data is sent
  socket.destroy();
}

/** How many bytes the operating system has accepted on this connection. */
function countAccepted(socket: Socket): number {
  const { _handle: handle } = tcpSocketOf(socket) as unknown as {
    readonly _handle: SocketHandle | null;
  };
  return handle ? handle.bytesWritten - handle.writeQueueSize : 0;
}
