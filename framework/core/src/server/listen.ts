import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { Application } from '../application.ts';
import { http } from '../http.ts';
import {
  aString,
  aWholeNumber,
  badOption,
  milliseconds,
  readOptions,
  required,
} from '../options.ts';
import { createRequestId } from '../request/request-id.ts';
import { PROBLEM_TYPE, problemOfStatus } from '../response/problem.ts';
import { TrackedResponse } from '../response/tracked-response.ts';
import { type CloseOptions, closeServer, isClosing, trackConnections } from './close.ts';
import { handleInTurn, isPipelined } from './pipelining.ts';
import { closeWithProblem, rejectUnreadable } from './unreadable.ts';
import { limitWriteTime } from './write-timeout.ts';

export interface ListenOptions {
  /** 0 selects a free port. */
  readonly port: number;
  /** Default `127.0.0.1`; use `0.0.0.0` or `::` in a container. */
  readonly host?: string;
  /** How long an idle connection stays open. Must be longer than the time-out of a proxy. Default 75 s. */
  readonly keepAliveTimeoutMs?: number;
  /** Time limit for the request headers. Default 80 s, but at most `requestTimeoutMs`. */
  readonly headersTimeoutMs?: number;
  /** Time limit for a whole request. Default 300 s. */
  readonly requestTimeoutMs?: number;
  /**
   * Disconnects a client if the operating system accepts no data of its response for this time.
   * Default 30 s; 0: never. The system accepts data in steps of its send buffer, up to some MiB on
   * Linux: clients that read a large response slower than about 50 kB/s can be disconnected too.
   */
  readonly writeTimeoutMs?: number;
}

export interface ListeningServer {
  readonly port: number;
  /**
   * Stops accepting connections, waits until every response is sent, and resolves when every
   * connection is closed. At the time limit, destroys the connections that are still open.
   *
   * @throws {TypeError} if an option is invalid
   */
  close(options?: CloseOptions): Promise<void>;
}

/**
 * Starts a server for `app`. Resolves once every plugin has finished and the server accepts
 * connections.
 *
 * @throws {TypeError} if an option is unknown or its value is invalid
 * @throws {Error} naming the address, if the server cannot listen on it
 */
export async function listen(
  app: Application,
  options: number | ListenOptions,
): Promise<ListeningServer> {
  const {
    port,
    host = '127.0.0.1',
    ...timeouts
  } = readOptions('listen()', typeof options === 'object' ? options : { port: options }, {
    port: required(aWholeNumber(0, 65_535)),
    host: aString,
    keepAliveTimeoutMs: milliseconds,
    headersTimeoutMs: milliseconds,
    requestTimeoutMs: milliseconds,
    writeTimeoutMs: milliseconds,
  });
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
    close(closeOptions) {
      closed ??= closeServer(server, app.logger, closeOptions);
      return closed;
    },
  };
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is in use',
  EACCES: 'this user may not use the port',
  EADDRNOTAVAIL: 'this machine does not have this address',
  ENOTFOUND: 'the host name is unknown',
};

function urlOf({ address, family, port }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

/** Creates the server that `listen` starts. */
export function createServer(
  app: Application,
  timeouts: Omit<ListenOptions, 'port' | 'host'> = {},
): Server {
  const {
    keepAliveTimeoutMs = 75_000,
    requestTimeoutMs = 300_000,
    writeTimeoutMs = 30_000,
  } = timeouts;
  const { headersTimeoutMs = Math.min(80_000, requestTimeoutMs || 80_000) } = timeouts;
  const handle = (req: IncomingMessage, res: ServerResponse) => {
    if (isClosing(server)) res.setHeader('Connection', 'close');
    app.handle(req, res);
  };
  if (requestTimeoutMs > 0 && headersTimeoutMs > requestTimeoutMs) {
    const expected = `at most requestTimeoutMs, which is ${requestTimeoutMs}`;
    throw badOption('listen()', { name: 'headersTimeoutMs', value: headersTimeoutMs, expected });
  }
  const dispatch = (req: IncomingMessage, res: ServerResponse) => {
    if (isPipelined(res)) handleInTurn(req, res, handle);
    else handle(req, res);
  };
  const server = http.createServer(
    {
      ServerResponse: TrackedResponse,
      keepAliveTimeout: keepAliveTimeoutMs,
      headersTimeout: headersTimeoutMs,
      requestTimeout: requestTimeoutMs,
      connectionsCheckingInterval: Math.min(5_000, headersTimeoutMs || 5_000),
      // Requests without a body (RFC 9112 §6.3) skip the life cycle of an empty stream.
      optimizeEmptyRequests: true,
      requireHostHeader: false, // readTarget() requires it and responds with a problem
    },
    dispatch,
  );
  const sockets = trackConnections(server);
  if (writeTimeoutMs > 0) limitWriteTime(server, sockets, writeTimeoutMs);
  // The body parser sends 100 Continue, unless it rejects the body by its length (RFC 9110 §10.1.1).
  server.on('checkContinue', dispatch);
  server.on('checkExpectation', rejectExpectation);
  server.on('connect', (_req, socket) => closeWithProblem(socket, 501)); // only for proxies (RFC 9110 §9.3.6)
  server.on('clientError', rejectUnreadable);
  return server;
}

/** Rejects any `Expect` except `100-continue` (RFC 9110 §10.1.1). */
function rejectExpectation(_req: IncomingMessage, res: ServerResponse): void {
  const requestId = createRequestId();
  const body = JSON.stringify(problemOfStatus(417, requestId));
  const headers = {
    'X-Request-Id': requestId,
    'Cache-Control': 'no-store',
    'Content-Type': PROBLEM_TYPE,
    'Content-Length': String(Buffer.byteLength(body)),
    Connection: 'close',
  };
  res.writeHead(417, headers).end(body);
}
