/// <reference types="node" preserve="true" />

import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';

import type { Query } from './request/request-target.ts';
import type { RequestLogger } from './request-log.ts';
import type { Body } from './response/body.ts';

/** What `State` has unless an application declares another type for it. */
interface DefaultState {
  // biome-ignore lint/suspicious/noExplicitAny: the interface of a user fits no index signature of unknown
  user?: { readonly id: string } & Record<string, any>;
}

/** Values that middleware shares during one request. Extend the type by declaration merging. */
export interface State extends DefaultState {
  [key: string]: unknown;
}

/** Runs everything after the current middleware; resolves once all of it has run. */
export type Next = () => Promise<void>;

export interface StreamOptions {
  /** Maximum size of the body in bytes, before any content coding is decoded. */
  readonly limit: number;
}

/** The bytes of a request body. */
export interface BodyStream extends Readable {
  [Symbol.asyncIterator](): NodeJS.AsyncIterator<Buffer>;
}

/** What middleware can narrow: the parts of a request, the shared values and the response. */
export interface Parts {
  readonly params?: unknown;
  readonly query?: unknown;
  readonly body?: unknown;
  /** What guards have added to `ctx.state`. */
  readonly state?: object | undefined;
  /** The JSON that the route declares as its response. */
  readonly response?: unknown;
  /** The errors that the route declares: extension members by code. */
  readonly errors?: object | undefined;
}

/** The matched route as it was registered, with all prefixes. */
export interface MatchedRoute {
  readonly method: string;
  readonly path: string;
}

/** `State` with the values that guards have added. */
type StateWith<Added> = Added & {
  [Key in keyof State as string extends Key ? never : Exclude<Key, keyof Added>]: State[Key];
} & { [key: string]: unknown };

type StateOf<P extends Parts> = P extends { readonly state: infer Added }
  ? StateWith<Added>
  : State;

/** `detail` explains the problem to a person. Default: the reason phrase of the status. */
type WithDetail<Members> = { readonly detail?: string } & Members;

/** The arguments of `ctx.fail`: the members may be omitted if all are optional. */
type Failure<Errors> = [keyof Errors] extends [never]
  ? [code: never]
  : {
      [Code in keyof Errors]: object extends Errors[Code]
        ? [code: Code, members?: WithDetail<Errors[Code]>]
        : [code: Code, members: WithDetail<Errors[Code]>];
    }[keyof Errors];

/** One request and its response. */
export interface Context<out P extends Parts = Parts> {
  /** The request method. */
  readonly method: string;
  /** The request target as sent: path and query, not decoded. */
  readonly url: string;
  /**
   * The normalised path, without the query. Keeps case and trailing slash, which prefixes and routes
   * ignore by default: use `app.use(prefix, …)` or routes instead of `===`.
   */
  readonly path: string;
  /** The decoded path parameters of the route; the wildcard is `params['*']`. */
  readonly params: P extends { readonly params: infer T } ? T : Record<string, string>;
  /** The matched route; `undefined` before a router has matched one. */
  readonly route: MatchedRoute | undefined;
  /** The decoded query: an object without a prototype. */
  readonly query: P extends { readonly query: infer T } ? T : Query;
  /** The request headers, with names in lower case. */
  readonly headers: IncomingHttpHeaders;
  /** The parsed request body; `undefined` without a body, or before a body parser has run. */
  body: P extends { readonly body: infer T } ? T : unknown;
  /** The response status. Default 200; 404 or 501 if no router has a route; 204 if nothing was sent. */
  status: number;
  /** Values that middleware shares during this request, such as `state.user`. */
  readonly state: StateOf<P>;
  /** The client's IP address; follows `trustProxy`. */
  readonly ip: string;
  /** The host and port that the client requested; follows `trustProxy`. */
  readonly host: string;
  /** The protocol that the client used; follows `trustProxy`. */
  readonly protocol: 'http' | 'https';
  /** Aborts when the client disconnects or the deadline of the request passes. */
  readonly signal: AbortSignal;
  /** Whether a response was recorded or sent. */
  readonly responded: boolean;
  /** Node's request and response. */
  readonly raw: { readonly req: IncomingMessage; readonly res: ServerResponse };
  /** The logger of this request, whose lines have its id. */
  readonly log: RequestLogger;
  /** The client's `X-Request-Id` if it is 1 to 64 characters of `[A-Za-z0-9_-]`, else a random id. */
  readonly requestId: string;
  /** The request header `name`, in any case; values of a repeated header are joined by `, `. */
  get(name: string): string | undefined;
  /**
   * The request body as a stream of bytes, as sent: for uploads too large for the memory. Use it without
   * a body parser, once per request. The stream fails with a `PayloadTooLargeError` after `limit` bytes,
   * with a `BadRequestError` if the body ends early, and with the reason of `signal` when it aborts. It is
   * destroyed once the response was sent.
   *
   * @throws {TypeError} if `limit` is not a whole number of bytes, or the body was already read
   * @throws {PayloadTooLargeError} if the client announces a larger body
   */
  stream(options: StreamOptions): BodyStream;
  /**
   * Sets a response header.
   *
   * @throws {TypeError} if the name is invalid, `Transfer-Encoding` or `Trailer`, or the value contains
   *   CR, LF or NUL
   */
  set(name: string, value: string | number | readonly string[]): this;
  /** Adds a value to a response header and keeps its present values. */
  append(name: string, value: string): this;
  /**
   * Sends `value` as JSON. With a contract, exactly the declared fields: see `endpoint()`.
   *
   * @throws {TypeError} if `value` or a part of it, such as a Map, has no JSON form
   */
  json(value: P extends { readonly response: infer T } ? T : unknown): undefined;
  /** Sends `text` as HTML. It must already be escaped. */
  html(text: string): undefined;
  /**
   * Sends `body`. `null` and the empty string are an empty body with status 204. The default
   * `Content-Type` is `text/plain` for a string, the type of a Blob, else `application/octet-stream`.
   * A stream is read as fast as the client reads, and destroyed when the client disconnects. If it
   * fails before its first chunk, the response is the error.
   *
   * @throws {TypeError} if the type of `body` is not supported
   */
  send(body: Body): undefined;
  /**
   * Sends a redirect. Characters that `Location` may not contain are percent-encoded. Default status 302.
   */
  redirect(url: string, status?: number): undefined;
  /**
   * Throws the `HttpError` class for `status`, such as `NotFoundError` for 404. Below 500 the response
   * contains `message`.
   *
   * @throws {RangeError} if `status` is not an integer from 400 to 599
   */
  throw(status: number, message?: string): never;
  /**
   * Throws the error with this code that `endpoint({ errors })` of the route declares. `members` are sent
   * as far as its schema declares them.
   *
   * @throws {TypeError} if the route does not declare the code
   */
  fail(...error: P extends { readonly errors: infer T } ? Failure<T> : [code: never]): never;
  /** Runs the next middleware: the same function as the second argument of a middleware. */
  next(): Promise<void>;
}

/** The returned value is awaited. It is ignored, except for the handler of a route. */
export type Middleware<P extends Parts = Parts> = (ctx: Context<P>, next: Next) => unknown;
