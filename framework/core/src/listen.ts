import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';

import type { Application } from './application.ts';
import { http } from './http.ts';
import { problemOfStatus, titleOf } from './problem.ts';
import { Response } from './response.ts';

export interface ListenOptions {
  /** 0 takes any free port. */
  readonly port: number;
  /** Default `127.0.0.1`; a container wants `0.0.0.0` or `::`. */
  readonly host?: string;
  /** How long an idle connection stays open: longer than any proxy in front keeps it. Default 75 s. */
  readonly keepAliveTimeoutMs?: number;
  /** How long a client may take to send its headers. Default 80 s; must be more than the above. */
  readonly headersTimeoutMs?: number;
  /** How long a client may take to send a whole request. Default 300 s. */
  readonly requestTimeoutMs?: number;
}

export interface ListeningServer {
  readonly port: number;
  /** Stops accepting, lets what is in flight finish, and resolves when every connection is closed. */
  close(): Promise<void>;
}

/**
 * Serves `app`; resolves once it accepts connections and every plugin is set up.
 *
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
  return { port: address.port, close: () => closeServer(server) };
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
    headersTimeoutMs = 80_000,
    requestTimeoutMs = 300_000,
  } = timeouts;
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
      connectionsCheckingInterval: 5_000,
      // A request that announces no body has none (RFC 9112 §6.3); Node then skips the life cycle of
      // an empty stream.
      optimizeEmptyRequests: true,
      requireHostHeader: false, // the gate requires it, and says so in the body
    },
    answer,
  );
  // Whoever reads the body says 100 Continue; whoever refuses it by its length does not (RFC 9110 §10.1.1).
  server.on('checkContinue', answer);
  server.on('clientError', answerUnreadable);
  return server;
}

const closing = new WeakSet<Server>();

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    closing.add(server);
    const sweep = setInterval(() => server.closeIdleConnections(), 50);
    server.close((error) => {
      clearInterval(sweep);
      if (error) reject(error);
      else resolve();
    });
  });
}

const UNREADABLE: Readonly<Record<string, number>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  HPE_INVALID_METHOD: 501,
};

/** Answers what the parser could not read as a request, and hangs up. */
function answerUnreadable(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable || isMidAnswer(socket)) {
    socket.destroy();
    return;
  }
  const status = UNREADABLE[error.code ?? ''] ?? 400;
  const body = JSON.stringify(problemOfStatus(status));
  socket.end(
    `HTTP/1.1 ${status} ${titleOf(status)}\r\nContent-Type: application/problem+json\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}

/** Whether an answer has begun on this connection; bytes of another one would corrupt it. */
function isMidAnswer(socket: Duplex): boolean {
  return (socket as { _httpMessage?: ServerResponse })._httpMessage?.headersSent === true;
}
