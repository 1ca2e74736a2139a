import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

import { http } from '../node/http.ts';

/** Method and path of the only route that may serve a dispatched request. */
interface TargetRoute {
  readonly method: string;
  readonly path: string;
}

export interface DispatchedRequestOptions {
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
}

/** A request that the application sends to itself, without a connection. */
export class DispatchedRequest extends http.IncomingMessage {
  readonly via: string;
  readonly route: TargetRoute;

  constructor(socket: Socket, { route, url, headers, body, via }: DispatchedRequestOptions) {
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

/** What sent the request of `ctx` with `dispatch`; `undefined` for a request of a client. */
export function viaOf({
  raw: { req },
}: {
  readonly raw: { readonly req: IncomingMessage };
}): string | undefined {
  return req instanceof DispatchedRequest ? req.via : undefined;
}

/** Whether `route` may serve `req`: any route, unless it was dispatched for another one. */
export function mayServe(route: TargetRoute, req: IncomingMessage): boolean {
  if (!(req instanceof DispatchedRequest)) return true;
  return route.method === req.route.method && route.path === req.route.path;
}
