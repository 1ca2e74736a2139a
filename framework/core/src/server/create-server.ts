import { AsyncResource } from 'node:async_hooks';
import type { X509Certificate } from 'node:crypto';
import type {
  IncomingMessage,
  ServerOptions as NodeOptions,
  RequestListener,
  Server,
  ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import type { Application } from '../application.ts';
import { http } from '../node/http.ts';
import { IncomingRequest, rememberRequest } from '../node/incoming-request.ts';
import { TrackedResponse } from '../node/tracked-response.ts';
import { limitWriteTime } from '../node/write-timeout.ts';
import { aString, badOption, check, oneOf, readOptions, required } from '../options.ts';
import { trackConnections } from './connections.ts';
import { createRejection, rejectConnect, rejectUnreadable } from './raw-requests.ts';
import { acceptsUpgrades, dispatchUpgrades, isUpgradable } from './upgrade.ts';

export interface ServerOptions {
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
  /** Serves HTTPS with this certificate. Default: HTTP. */
  readonly tls?: TlsOptions;
}

/** Creates the server that `listen` starts. */
export function createServer(app: Application, options: ServerOptions = {}): Server {
  const handle = (req: IncomingMessage, res: ServerResponse) => {
    if (closing.aborted) res.setHeader('Connection', 'close');
    app.handle(req, res);
  };
  const onRequest = (req: IncomingMessage, res: ServerResponse) => {
    rememberRequest(req);
    if (isPipelined(res)) handleInTurn(req, res, handle);
    else handle(req, res);
  };
  const server = createNodeServer(options, onRequest);
  const { sockets, closing } = trackConnections(server);
  const { writeTimeoutMs = 30_000 } = options;
  if (writeTimeoutMs > 0) limitWriteTime(server, sockets, writeTimeoutMs);
  if (acceptsUpgrades()) dispatchUpgrades(server, handle);
  // The body parser sends 100 Continue, unless it rejects the body by its length (RFC 9110 §10.1.1).
  server.on('checkContinue', (req: IncomingMessage, res: ServerResponse) => {
    const isExact = req.headers.expect?.toLowerCase() === '100-continue'; // Node also accepts "x 100-continue"
    if (isExact) onRequest(req, res);
    else rejectExpectation(req, res);
  });
  server.on('checkExpectation', rejectExpectation);
  server.on('connect', rejectConnect);
  server.on('clientError', rejectUnreadable);
  return server;
}

function createNodeServer(options: ServerOptions, onRequest: RequestListener): Server {
  const { tls } = options;
  const nodeOptions = readNodeOptions(options);
  if (tls === undefined) return http.createServer(nodeOptions, onRequest);
  const { ca, ...certificate } = readTls(tls);
  const server = process.getBuiltinModule('node:https').createServer(
    {
      ...nodeOptions,
      ...certificate,
      ...(ca !== undefined && { ca, requestCert: true }),
      handshakeTimeout: nodeOptions.headersTimeout || DEFAULT_HEADERS_MS,
    },
    onRequest,
  );
  // Before the handshake there is no connection on which a response could be sent.
  return server.on('tlsClientError', (_error, socket) => socket.destroy());
}

const DEFAULT_HEADERS_MS = 80_000;

function readNodeOptions(options: ServerOptions): NodeOptions {
  const { keepAliveTimeoutMs = 75_000, requestTimeoutMs = 300_000 } = options;
  const {
    headersTimeoutMs = Math.min(DEFAULT_HEADERS_MS, requestTimeoutMs || DEFAULT_HEADERS_MS),
  } = options;
  if (requestTimeoutMs > 0 && headersTimeoutMs > requestTimeoutMs) {
    const expected = `at most requestTimeoutMs, which is ${requestTimeoutMs}`;
    throw badOption('listen()', { name: 'headersTimeoutMs', value: headersTimeoutMs, expected });
  }
  return {
    IncomingMessage: IncomingRequest,
    ServerResponse: TrackedResponse,
    keepAliveTimeout: keepAliveTimeoutMs,
    headersTimeout: headersTimeoutMs,
    requestTimeout: requestTimeoutMs,
    connectionsCheckingInterval: Math.min(5_000, headersTimeoutMs || 5_000),
    // Requests without a body (RFC 9112 §6.3) skip the life cycle of an empty stream.
    optimizeEmptyRequests: true,
    requireHostHeader: false, // readTarget() requires it and responds with a problem
    ...(acceptsUpgrades() && { shouldUpgradeCallback: isUpgradable }),
  };
}

/** Rejects any `Expect` except `100-continue` (RFC 9110 §10.1.1). */
function rejectExpectation(req: IncomingMessage, res: ServerResponse): void {
  rememberRequest(req);
  const { headers, body } = createRejection(417);
  res.writeHead(417, headers).end(body);
}

/** Maximum of requests that wait behind the current one on a connection; a client that sends more is disconnected. */
export const MAX_WAITING = 100;

/** Handles one request. */
type Handle = (req: IncomingMessage, res: ServerResponse) => void;

/** Whether an earlier request on the connection has no complete response yet (RFC 9112 §9.3.2). */
function isPipelined(res: ServerResponse): boolean {
  return res.socket === null; // Node assigns the connection to one response at a time
}

const queues = new WeakMap<Socket, Queue>();

/**
 * Handles a pipelined request after the earlier ones. The responses on one connection therefore use
 * the memory of one response, even if the client sends many requests without reading.
 */
function handleInTurn(req: IncomingMessage, res: ServerResponse, handle: Handle): void {
  const { socket } = req;
  let queue = queues.get(socket);
  if (queue === undefined) {
    queue = new Queue(handle);
    queues.set(socket, queue);
  }
  if (queue.waiting < MAX_WAITING) queue.add(res);
  else socket.destroy();
}

/** The pipelined requests of one connection that wait for their turn. */
class Queue {
  waiting = 0;
  readonly #handle: Handle;
  /** The asynchronous context of the connection: Node emits `socket` in that of the earlier request. */
  readonly #context = new AsyncResource('PipelinedRequests');

  constructor(handle: Handle) {
    this.#handle = handle;
  }

  add(res: ServerResponse): void {
    this.waiting++;
    res.on('socket', () => {
      this.waiting--;
      // Later, because Node has not prepared the response yet.
      this.#context.runInAsyncScope(process.nextTick, process, this.#handle, res.req, res);
    });
  }
}

/** The certificate of a server. Keys and certificates are the contents of files, not their names. */
export interface TlsOptions {
  /** The private key, in PEM form. */
  readonly key: string | Buffer;
  /** The certificate, followed by its intermediate certificates, in PEM form. */
  readonly cert: string | Buffer;
  /** The passphrase of an encrypted key. */
  readonly passphrase?: string;
  /** Requires a client certificate that one of these authorities signed, in PEM form. Default: none. */
  readonly ca?: string | Buffer;
  /** Default `TLSv1.2`. */
  readonly minVersion?: 'TLSv1.2' | 'TLSv1.3';
}

/** Errors of this option contain no value, because it may be a private key. */
const aPem = check('text in PEM form', () => true);

/**
 * Checks keys and certificates, which Node would reject with the error of its TLS library, or only
 * when a client connects.
 *
 * @throws {TypeError} with the name of the invalid option
 */
function readTls(options: TlsOptions): TlsOptions {
  const { key, cert, ca, passphrase } = readOptions('the option tls of listen()', options, {
    key: required(aPem),
    cert: required(aPem),
    ca: aPem,
    passphrase: aString,
    minVersion: oneOf(['TLSv1.2', 'TLSv1.3']),
  });
  const { createPrivateKey } = process.getBuiltinModule('node:crypto');
  const privateKey = read(
    'key',
    'a private key in PEM form, with the passphrase if it has one',
    () => createPrivateKey({ key, ...(passphrase !== undefined && { passphrase }) }),
  );
  const certificate = read('cert', 'a certificate in PEM form', () => readCertificate(cert));
  if (ca !== undefined) read('ca', 'certificates in PEM form', () => readCertificate(ca));
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new TypeError(
      'Cannot use option tls of listen(): expected the private key of the certificate',
    );
  }
  return options;
}

/** Node also parses the binary form, but its TLS server does not accept it. */
function readCertificate(pem: string | Buffer): X509Certificate {
  if (!String(pem).includes('-----BEGIN CERTIFICATE-----')) throw new TypeError('Not in PEM form');
  const { X509Certificate } = process.getBuiltinModule('node:crypto');
  return new X509Certificate(pem);
}

function read<T>(name: string, expected: string, parse: () => T): T {
  try {
    return parse();
  } catch (cause) {
    throw new TypeError(`Cannot read option tls.${name} of listen(): expected ${expected}`, {
      cause,
    });
  }
}
