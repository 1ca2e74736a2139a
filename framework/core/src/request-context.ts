import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';

import { END } from './compose.ts';
import type { BodyStream, Context, MatchedRoute, Next, State, StreamOptions } from './context.ts';
import type { LogFields, Logger } from './logger.ts';
import { show } from './options.ts';
import { createAbortSignal } from './request/abort.ts';
import { streamBody } from './request/body-stream.ts';
import { readRequestId } from './request/request-id.ts';
import {
  isHost,
  parseQuery,
  type Query,
  type RequestTarget,
  UNREADABLE,
} from './request/request-target.ts';
import {
  type Forwarding,
  forwardedAddresses,
  forwardedEntry,
  type IsTrusted,
  readForwarding,
} from './request/trust-proxy.ts';
import { RequestLog } from './request-log.ts';
import {
  type Body,
  type Content,
  contentOf,
  discard,
  isBinary,
  isStream,
  requireSendable,
} from './response/body.ts';
import { type HttpErrorOptions, httpErrorOf } from './response/http-error.ts';
import {
  encodeLocation,
  findHeader,
  keepForError,
  type ResponseHeaders,
  setHeader,
} from './response/response-headers.ts';
import { requireRedirect, unmatchedStatus } from './response/status.ts';
import type { Violation } from './schema/serializer.ts';
import { stringify } from './schema/stringify.ts';
import { warnOfRoute } from './warnings.ts';

/** Receives the status of a sent response, or 499 or 500 if it was not sent completely. */
export type SentListener = (status: number) => void;

/** Settings of the application that each request needs. */
export interface ContextSettings {
  readonly log: Logger;
  readonly logFields: ((ctx: Context) => LogFields | undefined) | undefined;
  readonly isTrustedProxy: IsTrusted;
  /** Time after which `signal` aborts, in milliseconds; 0: never. */
  readonly deadlineMs: number;
  /** Serves a request of the same application. */
  readonly handle: (req: IncomingMessage, res: ServerResponse) => void;
}

/** The members of an error as `ctx.fail` takes them. */
export type ErrorMembers = Readonly<Record<string, unknown>> & { readonly detail?: string };

/** What the context needs of the responses that a route declares. */
interface ResponseContract {
  /** The JSON of the declared fields of `value`. */
  serialize(ctx: RequestContext, value: unknown): string | undefined;
}

/** What the context needs of the errors that a route declares. */
interface DeclaredErrors {
  /** The error with this code; `undefined` if it is not declared. */
  read(
    ctx: RequestContext,
    code: string,
    members: ErrorMembers,
  ):
    | (HttpErrorOptions & { readonly status: number; readonly detail: string | undefined })
    | undefined;
}

/** How a response broke the contract of its route. */
export interface ResponseViolation extends Violation {
  readonly status: number;
  /** The code of an error that the route does not declare. */
  readonly code?: string;
}

const NO_LISTENERS: readonly SentListener[] = [];
const NO_PARAMS: Record<string, string> = Object.freeze(Object.create(null));

/** The error for a method that was destructured, as in `({ json }) => json({})`. */
function detached(method: string): TypeError {
  return new TypeError(`ctx.${method} was called without ctx: write (ctx) => ctx.${method}(…)`);
}

/**
 * Request and response of Node. This is a class because of the garbage collection of V8. If many objects of
 * one literal survive, as with many open event streams, V8 allocates all later ones as old objects. Each
 * would then keep its request and response in memory until the next full garbage collection.
 */
export class NodePair {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;

  constructor(req: IncomingMessage, res: ServerResponse) {
    this.req = req;
    this.res = res;
  }
}

/**
 * The context of one request: reads the request and records the response. Parses query, addresses and
 * ids on first use.
 */
export class RequestContext implements Context {
  readonly raw: NodePair;
  readonly method: string;
  readonly url: string;
  readonly path: string;
  params: Record<string, string> = NO_PARAMS;
  route: (MatchedRoute & { readonly errors?: DeclaredErrors | undefined }) | undefined = undefined;
  body: unknown = undefined;
  next: Next = END;
  /** Called once the response has been sent. */
  sentListeners: readonly SentListener[] = NO_LISTENERS;
  /** Whether the response was written. */
  isWritten = false;
  /** What recorded the response, such as `ctx.json()`; empty before. */
  respondedBy = '';
  /** Whether another response may replace the recorded one. */
  isReplaceable = false;
  /** The contract of the route while its handler runs. */
  contract: ResponseContract | undefined = undefined;
  /** How the response broke the contract. */
  violation: ResponseViolation | undefined = undefined;
  /** Passes the connection to another protocol, for the status 101. */
  upgrade: (() => void) | undefined = undefined;
  responseBody: Content = '';
  responseType = '';
  /** Length of a streamed body in bytes; -1 if unknown. */
  streamLength = -1;
  responseHeaders: ResponseHeaders = [];
  /** The assigned status; 0 if none was assigned. */
  assignedStatus = 0;
  /** Whether a router found no route: the status is then 404 or 501, unless a later router has one. */
  isUnmatched = false;
  readonly #target: RequestTarget;
  readonly #settings: ContextSettings;
  readonly #startedMs: number;
  #query: Query | undefined = undefined;
  #forwarding: Forwarding | undefined = undefined;
  #requestId = '';
  #signal: AbortSignal | undefined = undefined;
  #state: State | undefined = undefined;
  #log: RequestLog | undefined = undefined;

  constructor(raw: NodePair, target: RequestTarget, settings: ContextSettings) {
    this.raw = raw;
    this.method = raw.req.method ?? 'GET';
    this.url = raw.req.url ?? '/';
    this.path = target.path;
    this.#target = target;
    this.#settings = settings;
    this.#startedMs = settings.deadlineMs > 0 ? performance.now() : 0;
  }

  /** The path that prefixes and routes compare, with the query; `url` if the target is invalid. */
  get routedUrl(): string {
    if (this.#target === UNREADABLE) return this.url;
    const { path, query } = this.#target;
    return query === '' ? path : `${path}?${query}`;
  }

  /** Serves a request of the same application. */
  get handle(): ContextSettings['handle'] {
    return this.#settings.handle;
  }

  get query(): Query {
    this.#query ??= parseQuery(this.#target.query);
    return this.#query;
  }

  /** For validation: the typed output of a schema. */
  set query(query: Query) {
    this.#query = query;
  }

  get headers(): IncomingHttpHeaders {
    return this.raw.req.headers;
  }

  get(name: string): string | undefined {
    if (!this) throw detached('get');
    const value = this.raw.req.headers[name.toLowerCase()];
    if (typeof value === 'string') return value;
    return Array.isArray(value) ? value.join(', ') : undefined; // not inherited, like `constructor`
  }

  stream(options: StreamOptions): BodyStream {
    if (!this) throw detached('stream');
    return streamBody(this, options);
  }

  get ip(): string {
    return this.#forwarded().ip;
  }

  /** The addresses in `X-Forwarded-For` that trusted proxies wrote, that of the client first. */
  get ips(): readonly string[] {
    const { hops } = this.#forwarded();
    return hops === 0 ? [] : forwardedAddresses(this.get('x-forwarded-for'), hops);
  }

  get host(): string {
    const claimed = this.#forwardedEntry('x-forwarded-host');
    return claimed !== undefined && isHost(claimed) ? claimed : this.#target.host;
  }

  get protocol(): 'http' | 'https' {
    const claimed = this.#forwardedEntry('x-forwarded-proto')?.toLowerCase();
    if (claimed === 'https' || claimed === 'wss') return 'https'; // some proxies name the WebSocket
    if (claimed === 'http' || claimed === 'ws') return 'http';
    return 'encrypted' in this.raw.req.socket ? 'https' : 'http';
  }

  get requestId(): string {
    if (this.#requestId === '') this.#requestId = readRequestId(this.get('x-request-id'));
    return this.#requestId;
  }

  get log(): RequestLog {
    this.#log ??= new RequestLog(this, this.#settings.log);
    return this.#log;
  }

  /** The fields of the option `logFields`. */
  get logFields(): LogFields | undefined {
    return this.#settings.logFields?.(this);
  }

  get addedLogFields(): LogFields | undefined {
    return this.#log?.added;
  }

  get signal(): AbortSignal {
    this.#signal ??= createAbortSignal(this.raw.res, this.#remainingMs());
    return this.#signal;
  }

  get state(): State {
    this.#state ??= {};
    return this.#state;
  }

  get status(): number {
    return this.decidedStatus || 200;
  }

  /** The assigned status, else that of a request without a route; 0 before either is known. */
  get decidedStatus(): number {
    if (this.assignedStatus !== 0 || !this.isUnmatched || this.route) return this.assignedStatus;
    return unmatchedStatus(this.method);
  }

  set status(status: number) {
    if (status === this.assignedStatus || this.#headSent()) return;
    if (!Number.isInteger(status) || status < 200 || status > 599) {
      throw new RangeError(
        `Cannot set status "${String(status)}": expected an integer from 200 to 599`,
      );
    }
    this.assignedStatus = status;
  }

  get responded(): boolean {
    return this.respondedBy !== '' || this.raw.res.headersSent;
  }

  set(name: string, value: string | number | readonly string[]): this {
    if (!this) throw detached('set');
    if (!this.#headSent()) setHeader(this.responseHeaders, name, value);
    return this;
  }

  append(name: string, value: string): this {
    if (!this) throw detached('append');
    if (this.#headSent()) return this;
    const at = findHeader(this.responseHeaders, name);
    if (at < 0) return this.set(name, value);
    const present = this.responseHeaders[at + 1] ?? [];
    return this.set(name, [...(typeof present === 'string' ? [present] : present), value]);
  }

  json(value: unknown): undefined {
    if (!this) throw detached('json');
    this.#sendJson(value, 'ctx.json()');
  }

  html(text: string): undefined {
    if (!this) throw detached('html');
    if (this.#isOver()) return;
    this.#record('ctx.html()', 'text/html; charset=utf-8', text);
  }

  send(body: Body): undefined {
    if (!this) throw detached('send');
    this.#send(body, 'ctx.send()');
  }

  /** Sends the value that a route handler returned. `ctx` itself, as `ctx.set()` returns it, is ignored. */
  sendReturned(value: unknown): void {
    const { res } = this.raw;
    if (value === undefined || value === this || value === res || res.headersSent) return;
    if (typeof value === 'string' || isBinary(value)) {
      this.#send(value, 'the returned value');
      return;
    }
    requireSendable(value);
    this.#sendJson(value, 'the returned value');
  }

  #sendJson(value: unknown, by: string): void {
    if (this.#isOver()) return;
    const text = this.contract ? this.contract.serialize(this, value) : stringify(value);
    if (text === undefined) {
      throw new TypeError(`Cannot send ${by} of type ${typeof value}: it has no JSON form`);
    }
    this.#record(by, 'application/json; charset=utf-8', text);
  }

  #send(body: Body, by: string): void {
    if (this.#isOver()) {
      discard(body);
      return;
    }
    const content = contentOf(body);
    let type =
      typeof content === 'string' ? 'text/plain; charset=utf-8' : 'application/octet-stream';
    if (isStream(content)) {
      content.on('error', () => {}); // writeResponse() handles an earlier failure too
      this.streamLength = body instanceof Blob ? body.size : -1;
      if (body instanceof Blob && body.type !== '') type = body.type;
    }
    this.#record(by, content === '' ? '' : type, content);
    if (content === '' && this.decidedStatus === 0) this.assignedStatus = 204;
  }

  redirect(url: string, status = 302): undefined {
    if (!this) throw detached('redirect');
    if (this.#isOver()) return;
    if (typeof url !== 'string') {
      throw new TypeError(`Cannot redirect to "${String(url)}": expected a string`);
    }
    requireRedirect(status, 'Cannot redirect');
    this.set('Location', encodeLocation(url));
    this.#record('ctx.redirect()', '', '');
    this.assignedStatus = status;
  }

  throw(status: number, message?: string): never {
    throw httpErrorOf(status, message);
  }

  fail(code: string, members: ErrorMembers = {}): never {
    if (!this) throw detached('fail');
    const declared = this.route?.errors?.read(this, code, members);
    if (declared === undefined) {
      throw new TypeError(
        `${this.method} ${this.route?.path ?? this.path} cannot fail with "${show(code)}": endpoint() does not declare it`,
      );
    }
    const { detail, ...error } = declared;
    throw httpErrorOf(error.status, detail, error);
  }

  hasHeader(name: string): boolean {
    return findHeader(this.responseHeaders, name) >= 0;
  }

  deleteHeader(name: string): void {
    const at = findHeader(this.responseHeaders, name);
    if (at >= 0) this.responseHeaders.splice(at, 2);
  }

  /** Removes the recorded response and its content headers, so that an error can replace them. */
  discardResponse(): void {
    if (isStream(this.responseBody)) this.responseBody.destroy();
    this.respondedBy = '';
    this.responseBody = '';
    this.responseType = '';
    this.responseHeaders = keepForError(this.responseHeaders);
  }

  #forwarded(): Forwarding {
    this.#forwarding ??= readForwarding(
      this.raw.req.socket.remoteAddress,
      this.get('x-forwarded-for'),
      this.#settings.isTrustedProxy,
    );
    return this.#forwarding;
  }

  /** What a trusted proxy has added to a header. */
  #forwardedEntry(header: string): string | undefined {
    const { hops } = this.#forwarded();
    return hops === 0 ? undefined : forwardedEntry(this.get(header), hops);
  }

  #remainingMs(): number | undefined {
    const { deadlineMs } = this.#settings;
    return deadlineMs > 0 ? this.#startedMs + deadlineMs - performance.now() : undefined;
  }

  /** Whether the middleware has ended, so that the response is sent: then a call has no effect. */
  #isOver(): boolean {
    if (this.isWritten) {
      warnOfRoute(
        this,
        'used ctx after its response was sent',
        'this has no effect; return a promise that settles when all work is done; for a function with a callback, use its promise form',
      );
    }
    return this.isWritten;
  }

  /** Whether the head was sent, so that setting a header or the status has no effect. */
  #headSent(): boolean {
    return this.isWritten && this.raw.res.headersSent && this.#isOver();
  }

  #record(by: string, type: string, body: Content): void {
    const isSent = this.raw.res.headersSent;
    if (isSent || (this.respondedBy !== '' && !this.isReplaceable)) {
      if (isStream(body)) body.destroy();
      throw new Error(
        isSent
          ? `Cannot respond with ${by}: the response was already sent`
          : `Cannot respond with ${by}: ${this.respondedBy} already responded`,
      );
    }
    if (isStream(this.responseBody)) this.responseBody.destroy();
    this.respondedBy = by;
    this.responseType = type;
    this.responseBody = body;
  }
}

/**
 * The object behind the context that a middleware was called with.
 *
 * @throws {TypeError} if `ctx` is another object, such as a copy
 */
export function recordOf(ctx: Context): RequestContext {
  if (ctx instanceof RequestContext) return ctx;
  throw new TypeError(
    'Cannot use this context: expected the one that a middleware was called with',
  );
}
