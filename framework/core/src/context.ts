import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from './logger.ts';
import type { Body } from './response/body.ts';

/** A query value: text, every text of a repeated key, or nothing. */
export type QueryValue = string | string[] | undefined;
export type Query = Record<string, QueryValue>;

/** What middleware passes along in one request. Extend it by declaration merging. */
export interface State {
  user?: { readonly id: string } & Record<string, unknown>;
  [key: string]: unknown;
}

/** Runs everything after the current middleware; resolves once all of it has run. */
export type Next = () => Promise<void>;

/** What `Context` holds that a schema may narrow: path parameters, query and body. */
export interface Parts {
  readonly params?: unknown;
  readonly query?: unknown;
  readonly body?: unknown;
}

/** The route that a request matched, as it was registered, prefixes included. */
export interface MatchedRoute {
  readonly method: string;
  readonly path: string;
}

type Part<P extends Parts, Name extends keyof Parts, Default> =
  P extends Record<Name, infer T> ? T : Default;

/** One request and the answer to it. */
export interface Context<out P extends Parts = Parts> {
  /** The request method as sent, upper case. */
  readonly method: string;
  /** The request target as sent: path and query. */
  readonly url: string;
  /** The one normalised path that guards, mounts, groups and routes all decide on. */
  readonly path: string;
  /** Captured path segments, decoded; the wildcard is under `*`. */
  readonly params: Part<P, 'params', Record<string, string>>;
  /** The route that matched; `undefined` as long as none has. */
  readonly route: MatchedRoute | undefined;
  /** The decoded query, on a map without a prototype. */
  readonly query: Part<P, 'query', Query>;
  /** Request headers, names in lower case. */
  readonly headers: IncomingHttpHeaders;
  /** The parsed request body; `undefined` until a body parser has run, or when there is none. */
  body: Part<P, 'body', unknown>;
  /** The response status. Default 200; 404 after a router found no route. */
  status: number;
  readonly state: State;
  /** The client's address; follows `trustProxy`. */
  readonly ip: string;
  /** The authority the client asked for; follows `trustProxy`. */
  readonly host: string;
  /** Follows `trustProxy`. */
  readonly protocol: 'http' | 'https';
  /** Aborted when the client leaves or the deadline passes. */
  readonly signal: AbortSignal;
  /** Whether an answer has been recorded. */
  readonly responded: boolean;
  readonly raw: { readonly req: IncomingMessage; readonly res: ServerResponse };
  readonly log: Logger;
  /** The client's `X-Request-Id` when it is 1 to 64 of `[A-Za-z0-9_-]`, else one made here. */
  readonly requestId: string;
  /** The request header `name`, whatever its case. */
  get(name: string): string | undefined;
  /**
   * Sets a response header.
   *
   * @throws {TypeError} if the name is no token or frames the message, or the value holds CR, LF or NUL
   */
  set(name: string, value: string | number | readonly string[]): this;
  /** Adds a value to a response header, keeping those it has. */
  append(name: string, value: string): this;
  /** Answers with `value` as JSON. */
  json(value: unknown): void;
  html(text: string): void;
  /**
   * Sends `body`; `null` and the empty string are an empty body with status 204. `Content-Type`,
   * unless set, is `text/plain` for a string, the type of a Blob, and `application/octet-stream`
   * otherwise. A stream is read as fast as the client reads and destroyed when the client leaves; if
   * it fails before its first chunk, the response is the error.
   *
   * @throws {TypeError} if `body` has another type
   */
  send(body: Body): void;
  /**
   * Sends a redirect. Characters that `Location` may not contain are percent-encoded. Default status 302.
   */
  redirect(url: string, status?: number): void;
  /**
   * Throws the `HttpError` class for `status`, such as `NotFoundError` for 404. Below 500 the client
   * reads `message`.
   *
   * @throws {RangeError} if `status` is not an integer from 400 to 599
   */
  throw(status: number, message?: string): never;
  /** Runs the next middleware: the same as the second argument of a middleware. */
  next(): Promise<void>;
}

/** What it returns is awaited and, unless it is the handler of a route, ignored. */
export type Middleware<P extends Parts = Parts> = (ctx: Context<P>, next: Next) => unknown;
