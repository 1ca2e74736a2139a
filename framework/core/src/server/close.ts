import type { Server } from 'node:http';
import type { Socket } from 'node:net';

import type { Logger } from '../logger.ts';
import { currentResponse } from '../node/tracked-response.ts';
import { milliseconds, readOptions } from '../options.ts';
import { connections, upgradeOf } from './connections.ts';

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
    const { sockets, announceClosing } = connections(server);
    let incomplete = 0;
    const closeIdleConnections = takeCloseIdleConnections(server);
    const sweep = setInterval(() => {
      const nowMs = performance.now();
      if (nowMs >= endMs) {
        incomplete += [...sockets.keys()].filter(isSending).length;
        for (const socket of sockets.keys()) socket.destroy();
      } else if (nowMs >= lingerEndMs + HEAD_MS) {
        for (const socket of sockets.keys()) if (!isSending(socket)) socket.destroy();
      } else if (nowMs >= lingerEndMs && ![...sockets.keys()].some(isUnsent)) {
        closeIdleConnections();
      }
    }, SWEEP_MS);
    announceClosing();
    dismiss([...sockets.keys()], Math.max(0, Math.min(lingerEndMs, endMs) - performance.now()));
    for (const socket of sockets.keys()) {
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
function dismiss(sockets: readonly Socket[], durationMs: number): void {
  const upgraded = sockets.map(upgradeOf).filter((connection) => connection !== undefined);
  for (const [at, connection] of upgraded.entries()) {
    setTimeout(() => connection.goAway(), (durationMs * at) / upgraded.length).unref();
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
