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
import { makeRequestId } from '../request/request-id.ts';
import { Response } from '../response/head.ts';
import { problemOfStatus } from '../response/problem.ts';
import { type CloseOptions, closeServer, isClosing, trackConnections } from './close.ts';
import { handleInTurn, isPipelined } from './pipelining.ts';
import { answerUnreadable, hangUp } from './unreadable.ts';
import { limitWriteTime } from './write-timeout.ts';

export interface ListenOptions {
  /** 0 takes any free port. */
  readonly port: number;
  /** Default `127.0.0.1`; a container wants `0.0.0.0` or `::`. */
  readonly host?: string;
  /** How long an idle connection stays open: longer than any proxy in front keeps it. Default 75 s. */
  readonly keepAliveTimeoutMs?: number;
  /** How long a client may take to send its headers. Default 80 s, and at most `requestTimeoutMs`. */
  readonly headersTimeoutMs?: number;
  /** How long a client may take to send a whole request. Default 300 s. */
  readonly requestTimeoutMs?: number;
  /**
   * A client is disconnected if the operating system accepts no data of its response for this time.
   * Default 30 s; 0: never. It accepts data in steps of its send buffer, up to some MiB on Linux: a
   * client that reads a large response slower than roughly 50 kB/s can be disconnected too.
   */
  readonly writeTimeoutMs?: number;
}

export interface ListeningServer {
  readonly port: number;
  /**
   * Stops accepting connections, waits until every response is sent, and resolves when every
   * connection is closed. At the time limit, connections that are still open are destroyed.
   *
   * @throws {TypeError} if an option is not a time that a timer can measure
   */
  close(options?: CloseOptions): Promise<void>;
}

/**
 * Serves `app`; resolves once it accepts connections and every plugin is set up.
 *
 * @throws {TypeError} if an option is unknown or has a value that it cannot have
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
  const answer = (req: IncomingMessage, res: ServerResponse) => {
    if (isPipelined(res)) handleInTurn(req, res, handle);
    else handle(req, res);
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
  const sockets = trackConnections(server);
  if (writeTimeoutMs > 0) limitWriteTime(server, sockets, writeTimeoutMs);
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
    'Cache-Control': 'no-store',
    'Content-Type': 'application/problem+json',
    'Content-Length': String(Buffer.byteLength(body)),
    Connection: 'close',
  };
  res.writeHead(417, headers).end(body);
}
