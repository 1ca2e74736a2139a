import type { Server } from 'node:http';
import type { Socket } from 'node:net';

import type { Logger } from '../logger.ts';
import { milliseconds, readOptions } from '../options.ts';
import { answerUnderWay } from './unreadable.ts';

export interface CloseOptions {
  /** How long idle connections may still send a request after the port is closed. Default 0. */
  readonly lingerMs?: number;
  /** After this time, connections that are still open are destroyed. Default 30 s; 0: no limit. */
  readonly timeoutMs?: number;
}

const connections = new WeakMap<Server, Set<Socket>>();
const closing = new WeakSet<Server>();

/** How long a client may take for the rest of a request's head once its server closes. */
const HEAD_MS = 1_000;

/** How long new connections may delay the end of a server. */
const ACCEPT_MS = 1_000;

const SWEEP_MS = 50;

/** Remembers the open connections of `server`; returns a live set of them. */
export function trackConnections(server: Server): ReadonlySet<Socket> {
  const sockets = new Set<Socket>();
  connections.set(server, sockets);
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return sockets;
}

/** Whether `server` asks clients to use another connection for their next request. */
export function isClosing(server: Server): boolean {
  return closing.has(server);
}

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
    const incomplete = await closeConnections(server, { lingerMs, endMs });
    if (incomplete > 0) {
      logger.warn(
        `close() reached its limit of ${Math.ceil(timeoutMs)} ms; incomplete responses: ${incomplete}`,
      );
    }
  };
  return close();
}

/**
 * Resolves after two turns of the event loop without a new connection. Each turn accepts one, and
 * connections that still wait when the port closes are reset, and requests on them are lost.
 */
async function acceptWaiting(server: Server, endMs: number): Promise<void> {
  const acceptEndMs = Math.min(endMs, performance.now() + ACCEPT_MS);
  let quietTurns = 0;
  const noteArrival = () => {
    quietTurns = 0;
  };
  server.on('connection', noteArrival);
  while (quietTurns < 2 && performance.now() < acceptEndMs) {
    quietTurns++;
    await new Promise((resolve) => setImmediate(resolve));
  }
  server.off('connection', noteArrival);
}

/** Resolves with the number of responses that were incomplete at the time limit. */
function closeConnections(
  server: Server,
  { lingerMs, endMs }: { readonly lingerMs: number; readonly endMs: number },
): Promise<number> {
  return new Promise((resolve, reject) => {
    const sockets = connections.get(server) ?? new Set();
    const idleEndMs = performance.now() + lingerMs;
    let incomplete = 0;
    // Node takes a connection for idle as soon as its response is written, even if the client has not
    // received it; and a proxy may be sending a request on one that is idle.
    const { closeIdleConnections } = server;
    server.closeIdleConnections = () => {};
    const sweep = setInterval(() => {
      const nowMs = performance.now();
      if (nowMs >= endMs) {
        incomplete += [...sockets].filter(isSending).length;
        for (const socket of sockets) socket.destroy();
      } else if (nowMs >= idleEndMs + HEAD_MS) {
        for (const socket of sockets) if (!isSending(socket)) socket.destroy();
      } else if (nowMs >= idleEndMs && !sockets.values().some(isUnsent)) {
        closeIdleConnections.call(server);
      }
    }, SWEEP_MS);
    closing.add(server);
    for (const socket of sockets) {
      const response = answerUnderWay(socket);
      if (response && !response.headersSent) response.setHeader('Connection', 'close');
    }
    server.close((error) => {
      clearInterval(sweep);
      if (error) reject(error);
      else resolve(incomplete);
    });
  });
}

/** Whether a response has its turn on this connection, or is on its way to the client. */
function isSending(socket: Socket): boolean {
  return answerUnderWay(socket) !== undefined || socket.writableLength > 0;
}

/** Whether a response is written, but not received: Node would take the connection for idle. */
function isUnsent(socket: Socket): boolean {
  return answerUnderWay(socket)?.writableEnded ?? socket.writableLength > 0;
}
