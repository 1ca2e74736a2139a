import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Context, MatchedRoute, Next, Query, State } from './context.ts';
import type { Logger } from './logger.ts';
import { createAbortSignal } from './request/abort-signal.ts';
import { parseQuery } from './request/query.ts';
import { createRequestId } from './request/request-id.ts';
import { isHost, type RequestTarget } from './request/request-target.ts';
import {
  type Forwarding,
  forwardedEntry,
  type IsTrusted,
  readForwarding,
} from './request/trust-proxy.ts';
import {
  type Body,
  type Content,
  contentOf,
  isBinary,
  isStream,
  requireJsonForm,
} from './response/body.ts';
import { httpErrorOf } from './response/http-error-of.ts';
import {
  encodeLocation,
  findHeader,
  keepForError,
  type ResponseHeaders,
  setHeader,
} from './response/response-headers.ts';

/** Receives the status of a sent response, or 499 or 500 if it was not sent completely. */
export type SentListener = (status: number) => void;

/** Settings of the application that each request needs. */
export interface ContextSettings {
  readonly log: Logger;
  readonly isTrustedProxy: IsTrusted;
  /** Time after which `ctx.signal` aborts; 0: never. */
  readonly deadlineMs: number;
}

const NO_PARAMS: Record<string, string> = Object.freeze(Object.create(null));
const REQUEST_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** The context of one request: reads the request lazily and records the response. */
export class RequestContext implements Context {
  readonly raw: { readonly req: IncomingMessage; readonly res: ServerResponse };
  readonly method: string;
  readonly path: string;
  params: Record<string, string> = NO_PARAMS;
  route: MatchedRoute | undefined = undefined;
  body: unknown = undefined;
  next: Next;
  /** Called once the response has been sent. */
  sentListener: SentListener | undefined = undefined;
  /** Whether the response was written. */
  finished = false;
  /** What recorded the response, such as `ctx.json()`; empty before. */
  respondedBy = '';
  responseBody: Content = '';
  responseType = '';
  /** Length of a streamed body in bytes; -1 if unknown. */
  streamLength = -1;
  /** Names and values of the response headers in turn. */
  responseHeaders: ResponseHeaders = [];
  /** The assigned status; 0 if none was assigned. */
  assignedStatus = 0;

  readonly #settings: ContextSettings;
  readonly #target: RequestTarget;
  #query: Query | undefined = undefined;
  #state: State | undefined = undefined;
  #forwarding: Forwarding | undefined = undefined;
  #requestId = '';
  #signal: AbortSignal | undefined = undefined;
  readonly #startedMs: number;

  constructor(
    raw: { readonly req: IncomingMessage; readonly res: ServerResponse },
    target: RequestTarget,
    settings: ContextSettings,
    next: Next,
  ) {
    this.raw = raw;
    this.method = raw.req.method ?? 'GET';
    this.path = target.path;
    this.next = next;
    this.#target = target;
    this.#settings = settings;
    this.#startedMs = settings.deadlineMs > 0 ? performance.now() : 0;
  }

  get url(): string {
    return this.raw.req.url ?? '/';
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

  get state(): State {
    this.#state ??= {};
    return this.#state;
  }

  get status(): number {
    return this.assignedStatus || 200;
  }

  set status(status: number) {
    if (!Number.isInteger(status) || status < 200 || status > 599) {
      throw new RangeError(
        `Cannot set status "${String(status)}": expected an integer from 200 to 599`,
      );
    }
    this.assignedStatus = status;
  }

  get ip(): string {
    return this.#forwarded().ip;
  }

  get host(): string {
    const claimed = forwardedEntry(this.get('x-forwarded-host'), this.#forwarded().hops);
    return claimed !== undefined && isHost(claimed) ? claimed : this.#target.host;
  }

  get protocol(): 'http' | 'https' {
    const entry = forwardedEntry(this.get('x-forwarded-proto'), this.#forwarded().hops);
    const claimed = entry?.toLowerCase();
    if (claimed === 'http' || claimed === 'https') return claimed;
    return 'encrypted' in this.raw.req.socket ? 'https' : 'http';
  }

  get signal(): AbortSignal {
    this.#signal ??= createAbortSignal(this.raw.res, this.#remainingMs());
    return this.#signal;
  }

  get responded(): boolean {
    return this.respondedBy !== '' || this.raw.res.headersSent;
  }

  get log(): Logger {
    return this.#settings.log;
  }

  get requestId(): string {
    if (this.#requestId === '') {
      const claimed = this.get('x-request-id');
      this.#requestId = claimed && REQUEST_ID.test(claimed) ? claimed : createRequestId();
    }
    return this.#requestId;
  }

  get(name: string): string | undefined {
    const value = this.raw.req.headers[name.toLowerCase()];
    if (typeof value === 'string') return value;
    return Array.isArray(value) ? value.join(', ') : undefined; // ignores inherited members such as `constructor`
  }

  set(name: string, value: string | number | readonly string[]): this {
    setHeader(this.responseHeaders, name, value);
    return this;
  }

  append(name: string, value: string): this {
    const at = findHeader(this.responseHeaders, name);
    const present = at < 0 ? [] : (this.responseHeaders[at + 1] ?? []);
    return this.set(name, [...(typeof present === 'string' ? [present] : present), value]);
  }

  json(value: unknown): void {
    this.#sendJson(value, 'ctx.json()');
  }

  html(text: string): void {
    this.#record('ctx.html()', 'text/html; charset=utf-8', text);
  }

  send(body: Body): void {
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
    requireJsonForm(value);
    this.#sendJson(value, 'the returned value');
  }

  #sendJson(value: unknown, by: string): void {
    const text = JSON.stringify(value) as string | undefined;
    if (text === undefined) {
      throw new TypeError(`Cannot send ${by} of type ${typeof value}: it has no JSON form`);
    }
    this.#record(by, 'application/json; charset=utf-8', text);
  }

  #send(body: Body, by: string): void {
    const content = contentOf(body);
    let type =
      typeof content === 'string' ? 'text/plain; charset=utf-8' : 'application/octet-stream';
    if (isStream(content)) {
      content.on('error', () => {}); // writeResponse() handles an earlier failure too
      this.streamLength = body instanceof Blob ? body.size : -1;
      if (body instanceof Blob && body.type !== '') type = body.type;
    }
    this.#record(by, content === '' ? '' : type, content);
    if (content === '' && this.assignedStatus === 0) this.assignedStatus = 204;
  }

  redirect(url: string, status = 302): void {
    if (![301, 302, 303, 307, 308].includes(status)) {
      throw new RangeError(
        `Cannot redirect with status "${String(status)}": expected 301, 302, 303, 307 or 308`,
      );
    }
    this.set('Location', encodeLocation(url));
    this.#record('ctx.redirect()', '', '');
    this.assignedStatus = status;
  }

  throw(status: number, message?: string): never {
    throw httpErrorOf(status, message);
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

  #record(by: string, type: string, body: Content): void {
    const isSent = this.finished || this.raw.res.headersSent;
    if (isSent || this.respondedBy !== '') {
      if (isStream(body)) body.destroy();
      throw new Error(
        isSent
          ? `Cannot respond with ${by}: the response was already sent`
          : `Cannot respond with ${by}: ${this.respondedBy} already responded`,
      );
    }
    this.respondedBy = by;
    this.responseType = type;
    this.responseBody = body;
  }

  #forwarded(): Forwarding {
    this.#forwarding ??= readForwarding(
      this.raw.req.socket.remoteAddress,
      this.get('x-forwarded-for'),
      this.#settings.isTrustedProxy,
    );
    return this.#forwarding;
  }

  #remainingMs(): number | undefined {
    const { deadlineMs } = this.#settings;
    return deadlineMs > 0 ? this.#startedMs + deadlineMs - performance.now() : undefined;
  }
}
