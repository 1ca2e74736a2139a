import { EventEmitter } from 'node:events';
import type {
  IncomingHttpHeaders,
  IncomingMessage,
  OutgoingHttpHeaders,
  ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';

import { http } from '../node/http.ts';
import { TrackedResponse } from '../node/tracked-response.ts';

/** Method and path of the only route that may serve a dispatched request. */
interface TargetRoute {
  readonly method: string;
  readonly path: string;
}

/** A request that the application sends to itself; its `Host` is that of the client. */
export interface DispatchOptions {
  /** The only route that may serve the request; for another one, the status is 404. */
  readonly route: TargetRoute;
  /** Path and query, percent-encoded. */
  readonly url: string;
  /** All headers, with names in lower case. */
  readonly headers: IncomingHttpHeaders;
  /** Default: none. `headers` describe it. */
  readonly body?: string | undefined;
  /** What translates the request, such as `mcp`: `viaOf` returns it. */
  readonly via: string;
  /** Maximum size of the body of the response, in bytes. */
  readonly limitBytes: number;
}

/** A complete response. */
export interface DispatchedResponse {
  readonly status: number;
  /** With names in lower case. */
  readonly headers: OutgoingHttpHeaders;
  readonly body: Buffer;
}

/** A context, of which only Node's request and response are used. */
interface Raw {
  readonly raw: { readonly req: IncomingMessage; readonly res: ServerResponse };
}

/** Sends a request of the client of `ctx` to `handle`: see `dispatch` in `extension.ts`. */
export function dispatch(
  ctx: Raw,
  handle: (req: IncomingMessage, res: TrackedResponse) => void,
  options: DispatchOptions,
): Promise<DispatchedResponse> {
  // Node's parser on a pair of streams would need half the code, but four times the CPU time of a request.
  return new Promise((resolve, reject) => {
    const { req: outer, res: outerResponse } = ctx.raw;
    if (viaOf(ctx) !== undefined) throw new Error('Cannot dispatch within a dispatched request');
    if (outerResponse.destroyed) throw new Error('The client has disconnected');
    const socket = new DispatchSocket(outer.socket);
    const req = new DispatchedRequest(socket as unknown as Socket, {
      ...options,
      headers: { ...options.headers, host: outer.headers.host ?? '' },
    });
    const res = new CollectedResponse(req, options.limitBytes);
    const abort = () => void res.destroy();
    outerResponse.once('close', abort);
    socket.onDestroy = abort;
    res.once('close', () => {
      outerResponse.off('close', abort);
      if (res.writableFinished) {
        resolve({ status: res.statusCode, headers: res.getHeaders(), body: res.takeBody() });
      } else {
        reject(res.reason ?? new Error('The request ended without a complete response'));
      }
    });
    handle(req, res);
  });
}

/** What sent the request of `ctx` with `dispatch`; `undefined` for a request of a client. */
export function viaOf({ raw: { req } }: Raw): string | undefined {
  return req instanceof DispatchedRequest ? req.via : undefined;
}

/** Whether `route` may serve `req`: any route, unless it was dispatched for another one. */
export function mayServe(route: TargetRoute, req: IncomingMessage): boolean {
  if (!(req instanceof DispatchedRequest)) return true;
  return route.method === req.route.method && route.path === req.route.path;
}

/** A request without a connection. */
class DispatchedRequest extends http.IncomingMessage {
  readonly via: string;
  readonly route: TargetRoute;

  constructor(socket: Socket, { route, url, headers, body, via }: DispatchOptions) {
    super(socket);
    this.via = via;
    this.route = route;
    this.method = route.method;
    this.url = url;
    this.httpVersion = '1.1';
    this.httpVersionMajor = 1;
    this.httpVersionMinor = 1;
    this.headers = headers;
    this.rawHeaders = [];
    for (const [name, value = ''] of Object.entries(this.headers)) {
      for (const each of typeof value === 'string' ? [value] : value) {
        this.rawHeaders.push(name, each);
      }
    }
    this.complete = true;
    if (body !== undefined) this.push(body);
    this.push(null);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    if (!this.readableEnded) this.socket.destroy();
    done(error);
  }
}

/** Stands for the connection of the client: has its addresses, and ends only the dispatched request. */
class DispatchSocket extends EventEmitter {
  readonly remoteAddress: string | undefined;
  readonly remotePort: number | undefined;
  readonly remoteFamily: string | undefined;
  readonly localAddress: string | undefined;
  readonly localPort: number | undefined;
  readonly writableLength = 0;
  /** The connection of the client. */
  readonly client: Socket;
  onDestroy = (): void => {};
  destroyed = false;

  constructor(client: Socket) {
    super();
    this.client = client;
    this.remoteAddress = client.remoteAddress;
    this.remotePort = client.remotePort;
    this.remoteFamily = client.remoteFamily;
    this.localAddress = client.localAddress;
    this.localPort = client.localPort;
    if ('encrypted' in client) Object.assign(this, tlsOf(client as TLSSocket));
  }

  get writable(): boolean {
    return !this.destroyed;
  }

  destroy(): this {
    if (this.destroyed) return this;
    this.destroyed = true;
    this.onDestroy();
    process.nextTick(() => this.emit('close'));
    return this;
  }

  // Middleware for Express calls these methods of a connection.

  setTimeout(): this {
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  cork(): void {}

  uncork(): void {}
}

/** What guards read of a TLS connection. */
function tlsOf(client: TLSSocket) {
  return {
    encrypted: true,
    authorized: client.authorized,
    authorizationError: client.authorizationError,
    servername: client.servername,
    getPeerCertificate: client.getPeerCertificate.bind(client),
    getPeerX509Certificate: client.getPeerX509Certificate.bind(client),
  };
}

/** Keeps the body instead of writing it to a connection. */
class CollectedResponse extends TrackedResponse {
  /** Why the response was not completed. */
  reason: Error | undefined = undefined;
  readonly #limitBytes: number;
  readonly #chunks: Uint8Array[] = [];
  #size = 0;

  constructor(req: DispatchedRequest, limitBytes: number) {
    super(req);
    this.#limitBytes = limitBytes;
    Object.assign(this, { socket: req.socket }); // its type is read-only
  }

  override writeHead(status: number, ...rest: readonly unknown[]): this {
    // After a first header, Node keeps those of this call too.
    if (rest.length > 0) this.setHeader('Date', '').removeHeader('Date');
    super.writeHead(status, ...rest);
    if (/^text\/event-stream\b/i.test(String(this.getHeader('content-type')))) {
      // Not now: the caller may be about to pipe a stream into this response.
      process.nextTick(() => this.#fail('The response is an event stream, which has no end'));
    }
    return this;
  }

  override write(chunk: unknown, ...rest: readonly unknown[]): boolean {
    if (this.writableEnded) return super.write(chunk, ...rest);
    const done = rest.at(-1);
    this.#collect(chunk, rest[0]);
    if (typeof done === 'function') process.nextTick(done as () => void);
    return true;
  }

  override end(...args: readonly unknown[]): this {
    if (this.writableEnded) return super.end(...args);
    const done = args.findLast((each) => typeof each === 'function');
    if (done) this.once('finish', done as () => void);
    this.#collect(args[0] === done ? undefined : args[0], args[1]);
    if (this.destroyed) return this;
    this.finished = true;
    process.nextTick(() => {
      this.emit('finish');
      this.destroy();
    });
    return this;
  }

  override flushHeaders(): void {
    if (!this.headersSent) this.writeHead(this.statusCode);
  }

  override destroy(error?: Error): this {
    if (this.destroyed) return this;
    super.destroy(error); // also the socket
    process.nextTick(() => this.emit('close'));
    return this;
  }

  override writeContinue(): void {}

  override writeProcessing(): void {}

  override writeEarlyHints(): void {}

  /** @throws {TypeError} if `chunk` is neither text nor bytes, as Node does */
  #collect(chunk: unknown, encoding: unknown): void {
    const bytes = toBytes(chunk ?? '', encoding);
    this.flushHeaders();
    if (this.destroyed) return;
    this.#size += bytes.length;
    if (this.#size <= this.#limitBytes) this.#chunks.push(bytes);
    else this.#fail(`The response has more than ${this.#limitBytes} bytes`);
  }

  #fail(reason: string): void {
    this.reason = new Error(reason);
    this.destroy();
  }

  takeBody(): Buffer {
    const [first] = this.#chunks;
    if (this.#chunks.length !== 1 || !(first instanceof Buffer)) return Buffer.concat(this.#chunks);
    return first;
  }
}

/** Without a connection, the response is complete when it has ended. */
Object.defineProperty(CollectedResponse.prototype, 'writableFinished', {
  get(this: CollectedResponse) {
    return this.writableEnded;
  },
});

function toBytes(chunk: unknown, encoding: unknown): Uint8Array {
  if (chunk instanceof Uint8Array) return chunk;
  return Buffer.from(chunk as string, typeof encoding === 'string' ? (encoding as 'utf8') : 'utf8');
}
