import { AsyncResource } from 'node:async_hooks';
import type {
  IncomingMessage,
  ServerOptions as NodeOptions,
  RequestListener,
  Server,
  ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import type { Application } from '../application.ts';
import { http } from '../http.ts';
import { badOption } from '../options.ts';
import { createRequestId } from '../request/request-reader.ts';
import { PROBLEM_TYPE, problemOfStatus } from '../response/problem.ts';
import { TrackedResponse } from '../response/tracked-response.ts';
import { closingOfServer, openSockets, tcpSocketOf, trackConnections } from './close.ts';
import { readTls, type TlsOptions } from './tls.ts';
import { rejectConnect, rejectUnreadable } from './unreadable.ts';
import { handleUpgrades, isWebSocketRequest, type UpgradeHandler } from './upgrade.ts';

export interface ServerTimeouts {
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

export interface ServerOptions extends ServerTimeouts {
  /** Serves HTTPS with this certificate. Default: HTTP. */
  readonly tls?: TlsOptions;
  /**
   * Takes over the connection of a WebSocket request: `(req, socket, head) => …`. Default: it is a
   * normal request. The middleware of the application does not run for it.
   */
  readonly upgrade?: UpgradeHandler;
}

/** Creates the server that `listen` starts. */
export function createServer(app: Application, options: ServerOptions = {}): Server {
  const handle = (req: IncomingMessage, res: ServerResponse) => {
    if (closing.aborted) res.setHeader('Connection', 'close');
    app.handle(req, res);
  };
  const dispatch = (req: IncomingMessage, res: ServerResponse) => {
    if (isPipelined(res)) handleInTurn(req, res, handle);
    else handle(req, res);
  };
  const server = createNodeServer(options, dispatch);
  trackConnections(server, app.logger);
  const closing = closingOfServer(server);
  const { writeTimeoutMs = 30_000, upgrade } = options;
  if (writeTimeoutMs > 0) limitWriteTime(server, openSockets(server), writeTimeoutMs);
  if (upgrade) handleUpgrades(server, upgrade, app.logger);
  // The body parser sends 100 Continue, unless it rejects the body by its length (RFC 9110 §10.1.1).
  server.on('checkContinue', (req: IncomingMessage, res: ServerResponse) => {
    const isExact = req.headers.expect?.toLowerCase() === '100-continue'; // Node also accepts "x 100-continue"
    if (isExact) dispatch(req, res);
    else rejectExpectation(req, res);
  });
  server.on('checkExpectation', rejectExpectation);
  server.on('connect', rejectConnect);
  server.on('clientError', rejectUnreadable);
  return server;
}

function createNodeServer(options: ServerOptions, dispatch: RequestListener): Server {
  const { tls } = options;
  const nodeOptions = readNodeOptions(options);
  if (tls === undefined) return http.createServer(nodeOptions, dispatch);
  const { ca, ...certificate } = readTls(tls);
  const server = process.getBuiltinModule('node:https').createServer(
    {
      ...nodeOptions,
      ...certificate,
      ...(ca !== undefined && { ca, requestCert: true }),
      handshakeTimeout: nodeOptions.headersTimeout || DEFAULT_HEADERS_MS,
    },
    dispatch,
  );
  // Before the handshake there is no connection on which a response could be sent.
  return server.on('tlsClientError', (_error, socket) => socket.destroy());
}

const DEFAULT_HEADERS_MS = 80_000;

function readNodeOptions(options: ServerOptions): NodeOptions {
  const { keepAliveTimeoutMs = 75_000, requestTimeoutMs = 300_000, upgrade } = options;
  const {
    headersTimeoutMs = Math.min(DEFAULT_HEADERS_MS, requestTimeoutMs || DEFAULT_HEADERS_MS),
  } = options;
  if (requestTimeoutMs > 0 && headersTimeoutMs > requestTimeoutMs) {
    const expected = `at most requestTimeoutMs, which is ${requestTimeoutMs}`;
    throw badOption('listen()', { name: 'headersTimeoutMs', value: headersTimeoutMs, expected });
  }
  return {
    ServerResponse: TrackedResponse,
    keepAliveTimeout: keepAliveTimeoutMs,
    headersTimeout: headersTimeoutMs,
    requestTimeout: requestTimeoutMs,
    connectionsCheckingInterval: Math.min(5_000, headersTimeoutMs || 5_000),
    // Requests without a body (RFC 9112 §6.3) skip the life cycle of an empty stream.
    optimizeEmptyRequests: true,
    requireHostHeader: false, // readTarget() requires it and responds with a problem
    ...(upgrade && { shouldUpgradeCallback: isWebSocketRequest }),
  };
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

/** Maximum of waiting requests on one connection; a client that sends more is disconnected. */
export const MAX_WAITING = 100;

const waiting = new WeakMap<Socket, number>();

/** Handles one request. */
type Handle = (req: IncomingMessage, res: ServerResponse) => void;

/** Whether an earlier request on the connection has no complete response yet (RFC 9112 §9.3.2). */
function isPipelined(res: ServerResponse): boolean {
  return res.socket === null; // Node assigns the connection to one response at a time
}

/**
 * Handles a pipelined request after the earlier ones. The responses on one connection therefore use
 * the memory of one response, even if the client sends many requests without reading.
 */
function handleInTurn(req: IncomingMessage, res: ServerResponse, handle: Handle): void {
  const { socket } = req;
  const count = (waiting.get(socket) ?? 0) + 1;
  if (count > MAX_WAITING) {
    socket.destroy();
    return;
  }
  waiting.set(socket, count);
  // The event is emitted in the asynchronous context of the earlier request, and before Node has
  // prepared the response.
  const begin = AsyncResource.bind(() => {
    waiting.set(socket, (waiting.get(socket) ?? 1) - 1);
    process.nextTick(handle, req, res);
  });
  res.once('socket', begin);
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
