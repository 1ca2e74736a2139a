import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';

import type { Context, MatchedRoute } from '../context.ts';
import { http } from '../http.ts';
import { TrackedResponse } from '../response/head.ts';
import { trackLike } from './connections.ts';

/** A request that the application sends to itself. */
export interface DispatchOptions {
  /** The only route that may serve the request; for another one, the status is 404. */
  readonly route: MatchedRoute;
  /** Path and query, percent-encoded. */
  readonly url: string;
  /** All headers, with names in lower case; `Host` is that of the client. */
  readonly headers: IncomingHttpHeaders;
  /** Default: none. `headers` describe it. */
  readonly body?: string | undefined;
  /** What translates the request, such as `mcp`: `viaOf` returns it. */
  readonly via: string;
  /** Maximum size of the response in bytes, its head included. */
  readonly limitBytes: number;
}

/** A complete response. */
export interface DispatchedResponse {
  readonly status: number;
  /** With names in lower case. */
  readonly headers: OutgoingHttpHeaders;
  readonly body: Buffer;
}

/** Sends a request of the client of `ctx` to `handle`: see `dispatch` in `extension.ts`. */
export function dispatch(
  ctx: Context,
  handle: (req: IncomingMessage, res: TrackedResponse) => void,
  options: DispatchOptions,
): Promise<DispatchedResponse> {
  return new Promise((resolve, reject) => {
    const { req: outer, res: outerResponse } = ctx.raw;
    if (viaOf(ctx) !== undefined) throw new Error('Cannot dispatch within a dispatched request');
    const socket = new DispatchSocket(outer.socket, options.limitBytes);
    const req = new DispatchedRequest(socket, { ...options, host: outer.headers.host ?? '' });
    const res = new TrackedResponse(req);
    res.useChunkedEncodingByDefault = false; // a body of unknown length ends with the connection
    res.assignSocket(socket as unknown as Socket);
    const abort = () => socket.destroy();
    outerResponse.once('close', abort);
    res.once('finish', () => {
      resolve({ status: res.statusCode, headers: res.getHeaders(), body: socket.takeBody() });
      socket.destroy();
    });
    socket.once('close', () => {
      outerResponse.off('close', abort);
      reject(socket.reason ?? new Error('The request ended without a complete response'));
    });
    handle(req, res);
  });
}

/** What sent the request of `ctx` with `dispatch`; `undefined` for a request of a client. */
export function viaOf({ raw: { req } }: Pick<Context, 'raw'>): string | undefined {
  return req instanceof DispatchedRequest ? req.via : undefined;
}

/** Whether `route` may serve `req`: any route, unless it was dispatched for another one. */
export function mayServe(route: MatchedRoute, req: IncomingMessage): boolean {
  if (!(req instanceof DispatchedRequest)) return true;
  return route.method === req.route.method && route.path === req.route.path;
}

class DispatchedRequest extends http.IncomingMessage {
  readonly via: string;
  readonly route: MatchedRoute;

  constructor(
    socket: DispatchSocket,
    { route, url, headers, body, via, host }: DispatchOptions & { readonly host: string },
  ) {
    super(socket as unknown as Socket);
    this.via = via;
    this.route = route;
    this.method = route.method;
    this.url = url;
    this.httpVersion = '1.1';
    this.httpVersionMajor = 1;
    this.httpVersionMinor = 1;
    this.headers = { ...headers, host };
    this.rawHeaders = Object.entries(this.headers).flatMap(([name, value]) =>
      [value ?? []].flat().flatMap((each) => [name, each]),
    );
    this.complete = true;
    if (body !== undefined) this.push(body);
    this.push(null);
  }
}

/** The connection of a dispatched request: has the addresses of the client, and collects the response. */
class DispatchSocket extends Duplex {
  readonly remoteAddress: string | undefined;
  readonly remotePort: number | undefined;
  readonly remoteFamily: string | undefined;
  readonly localAddress: string | undefined;
  readonly localPort: number | undefined;
  /** Why the response was not completed. */
  reason: Error | undefined = undefined;
  readonly #limitBytes: number;
  readonly #chunks: Buffer[] = [];
  #size = 0;

  constructor(client: Socket, limitBytes: number) {
    super();
    this.#limitBytes = limitBytes;
    this.remoteAddress = client.remoteAddress;
    this.remotePort = client.remotePort;
    this.remoteFamily = client.remoteFamily;
    this.localAddress = client.localAddress;
    this.localPort = client.localPort;
    if ('encrypted' in client) Object.assign(this, tlsOf(client as TLSSocket));
    trackLike(client, this);
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#size += chunk.length;
    const head =
      this.#chunks.length > 0 ? '' : chunk.toString('latin1', 0, chunk.indexOf(HEAD_END));
    if (EVENT_STREAM.test(head)) {
      this.#fail('The response is an event stream, which has no end');
    } else if (this.#size > this.#limitBytes) {
      this.#fail(`The response has more than ${this.#limitBytes} bytes`);
    } else {
      this.#chunks.push(chunk);
    }
    done();
  }

  #fail(reason: string): void {
    this.reason ??= new Error(reason);
    this.destroy();
  }

  /** The body of the response, which follows its head and interim responses. */
  takeBody(): Buffer {
    const [first = EMPTY, ...rest] = this.#chunks;
    let bytes = rest.length === 0 ? first : Buffer.concat(this.#chunks);
    let isInterim = true;
    while (isInterim && bytes.length > 0) {
      isInterim = bytes.toString('latin1', 9, 10) === '1';
      bytes = bytes.subarray(bytes.indexOf(HEAD_END) + HEAD_END.length);
    }
    return bytes;
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
}

const EMPTY = Buffer.alloc(0);
const HEAD_END = '\r\n\r\n';
const EVENT_STREAM = /\r\ncontent-type: *text\/event-stream/i;

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
