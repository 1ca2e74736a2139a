import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

import type { Application } from './application.ts';
import { http } from './http.ts';
import { problemOfStatus } from './problem.ts';
import { makeRequestId } from './request-id.ts';
import { Response } from './response.ts';
import { answerUnderWay, answerUnreadable, hangUp } from './unreadable.ts';

export interface ListenOptions {
  /** 0 takes any free port. */
  readonly port: number;
  /** Default `127.0.0.1`; a container wants `0.0.0.0` or `::`. */
  readonly host?: string;
  /** How long an idle connection stays open: longer than any proxy in front keeps it. Default 75 s. */
  readonly keepAliveTimeoutMs?: number;
  /** How long a client may take to send its headers. Default 80 s, or less if a request has less. */
  readonly headersTimeoutMs?: number;
  /** How long a client may take to send a whole request. Default 300 s. */
  readonly requestTimeoutMs?: number;
}

export interface CloseOptions {
  /** How long idle connections may still bring a request after the port is closed. Default 0. */
  readonly lingerMs?: number;
}

export interface ListeningServer {
  readonly port: number;
  /** Stops accepting, lets what is in flight finish, and resolves when every connection is closed. */
  close(options?: CloseOptions): Promise<void>;
}

/**
 * Serves `app`; resolves once it accepts connections and every plugin is set up.
 *
 * @throws {RangeError} if the port is no port
 * @throws {Error} saying which address, if it cannot be had
 */
export async function listen(
  app: Application,
  options: number | ListenOptions,
): Promise<ListeningServer> {
  const {
    port,
    host = '127.0.0.1',
    ...timeouts
  } = typeof options === 'number' ? { port: options } : options;
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new RangeError(`Cannot listen on port "${port}": expected an integer from 0 to 65535`);
  }
  await app.ready();
  const server = createServer(app, timeouts);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const reason = REASONS[error.code ?? ''] ?? error.message;
      reject(new Error(`Cannot listen on ${host}:${port}: ${reason}`, { cause: error }));
    });
    server.listen(port, host, resolve);
  });
  const address = server.address() as AddressInfo;
  app.logger.info(`Listening on ${urlOf(address)}`);
  let closed: Promise<void> | undefined;
  return {
    port: address.port,
    close({ lingerMs = 0 } = {}) {
      closed ??= acceptWaiting(server).then(() => closeServer(server, lingerMs));
      return closed;
    },
  };
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is taken',
  EACCES: 'this user may not use the port',
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'no such host is known',
};

function urlOf({ address, family, port }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

/** The server that `listen` starts, not listening yet. */
export function createServer(
  app: Application,
  timeouts: Omit<ListenOptions, 'port' | 'host'> = {},
): Server {
  const { keepAliveTimeoutMs = 75_000, requestTimeoutMs = 300_000 } = timeouts;
  const { headersTimeoutMs = Math.min(80_000, requestTimeoutMs || 80_000) } = timeouts;
  const answer = (req: IncomingMessage, res: ServerResponse) => {
    if (closing.has(server)) res.setHeader('Connection', 'close');
    app.handle(req, res);
  };
  const server = http.createServer(
    {
      ServerResponse: Response,
      keepAliveTimeout: keepAliveTimeoutMs,
      headersTimeout: headersTimeoutMs,
      requestTimeout: requestTimeoutMs,
      connectionsCheckingInterval: Math.min(5_000, headersTimeoutMs || 5_000),
      // A request that announces no body has none (RFC 9112 §6.3); Node then skips the life cycle of
      // an empty stream.
      optimizeEmptyRequests: true,
      requireHostHeader: false, // the gate requires it, and says so in the body
    },
    answer,
  );
  const sockets = new Set<Socket>();
  connections.set(server, sockets);
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  // Whoever reads the body says 100 Continue; whoever refuses it by its length does not (RFC 9110 §10.1.1).
  server.on('checkContinue', answer);
  server.on('checkExpectation', answerExpectation);
  server.on('connect', (_req, socket) => hangUp(socket, 501)); // for proxies only (RFC 9110 §9.3.6)
  server.on('clientError', answerUnreadable);
  return server;
}

/** Any `Expect` but `100-continue` (RFC 9110 §10.1.1). */
function answerExpectation(_req: IncomingMessage, res: ServerResponse): void {
  const requestId = makeRequestId();
  const body = JSON.stringify(problemOfStatus(417, requestId));
  const headers = {
    'X-Request-Id': requestId,
    'Content-Type': 'application/problem+json',
    'Content-Length': String(Buffer.byteLength(body)),
    Connection: 'close',
  };
  res.writeHead(417, headers).end(body);
}

const connections = new WeakMap<Server, ReadonlySet<Socket>>();
const closing = new WeakSet<Server>();

/** How long a client may take for the rest of a request's head, once its server closes. */
const HEAD_MS = 1_000;

/** How long connections that keep coming may put off the end of a server. */
const ACCEPT_MS = 1_000;

/**
 * Resolves once two turns of the event loop have brought no new connection. A turn accepts one, and
 * those that wait for theirs when the port closes are reset, whatever they have sent already.
 */
async function acceptWaiting(server: Server): Promise<void> {
  const endMs = performance.now() + ACCEPT_MS;
  let quietTurns = 0;
  const noteArrival = () => {
    quietTurns = 0;
  };
  server.on('connection', noteArrival);
  while (quietTurns < 2 && performance.now() < endMs) {
    quietTurns++;
    await new Promise((resolve) => setImmediate(resolve));
  }
  server.off('connection', noteArrival);
}

function closeServer(server: Server, lingerMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const sockets = connections.get(server) ?? new Set();
    const startedMs = performance.now();
    // Node's close() closes idle connections at once; a proxy may be writing to one of them just now.
    const { closeIdleConnections } = server;
    if (lingerMs > 0) server.closeIdleConnections = () => {};
    const sweep = setInterval(() => {
      const closingForMs = performance.now() - startedMs;
      if (closingForMs < lingerMs) return;
      server.closeIdleConnections = closeIdleConnections;
      server.closeIdleConnections();
      if (closingForMs < lingerMs + HEAD_MS) return;
      for (const socket of sockets) {
        if (!answerUnderWay(socket) && socket.writableLength === 0) socket.destroy();
      }
    }, 50);
    closing.add(server);
    for (const socket of sockets) {
      const answer = answerUnderWay(socket);
      if (answer && !answer.headersSent) answer.setHeader('Connection', 'close');
    }
    server.close((error) => {
      clearInterval(sweep);
      if (error) reject(error);
      else resolve();
    });
  });
}
