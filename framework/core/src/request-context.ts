import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Context, MatchedRoute, Next, Query, State } from './context.ts';
import { http } from './http.ts';
import type { Logger } from './logger.ts';
import { parseQuery } from './request/query.ts';
import { makeRequestId } from './request/request-id.ts';
import { isHost } from './request/request-target.ts';
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
import type { SentListener } from './response/sent.ts';

/** What every request of one application shares. */
export interface ContextSettings {
  readonly log: Logger;
  readonly isTrustedProxy: IsTrusted;
  /** After how many milliseconds `ctx.signal` aborts; 0: never. */
  readonly deadlineMs: number;
}

/** What a request's first line and `Host` say, once the gate has let them through. */
export interface RequestTarget {
  /** In normal form. */
  readonly path: string;
  /** Without the question mark. */
  readonly query: string;
  readonly host: string;
}

const NO_PARAMS: Record<string, string> = Object.freeze(Object.create(null));
const OCTETS = 'application/octet-stream';
const REQUEST_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** The context that the server makes for one request: reads lazily, records the answer. */
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
  /** Set once the answer has gone out. */
  finished = false;
  /** What answered, by name; empty until something has. */
  answeredBy = '';
  answerBody: Content = '';
  answerType = '';
  /** The length of a streamed body in bytes; -1 if it is not known. */
  streamLength = -1;
  /** Names and values of the response's headers in turn. */
  answerHeaders: (string | string[])[] = [];
  /** The status that was assigned; 0 until one was. */
  assignedStatus = 0;

  readonly #settings: ContextSettings;
  readonly #target: RequestTarget;
  #query: Query | undefined = undefined;
  #state: State | undefined = undefined;
  #forwarding: Forwarding | undefined = undefined;
  #requestId = '';
  #abort: AbortController | undefined = undefined;
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

  /** For the package that validates: what handlers read from now on. */
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
    this.#abort ??= this.#watch();
    return this.#abort.signal;
  }

  get responded(): boolean {
    return this.answeredBy !== '' || this.raw.res.headersSent;
  }

  get log(): Logger {
    return this.#settings.log;
  }

  get requestId(): string {
    if (this.#requestId === '') {
      const claimed = this.get('x-request-id');
      this.#requestId = claimed && REQUEST_ID.test(claimed) ? claimed : makeRequestId();
    }
    return this.#requestId;
  }

  get(name: string): string | undefined {
    const value = this.raw.req.headers[name.toLowerCase()];
    if (typeof value === 'string') return value;
    return Array.isArray(value) ? value.join(', ') : undefined; // not what every object inherits
  }

  set(name: string, value: string | number | readonly string[]): this {
    if (!checkedNames.has(name)) checkName(name);
    const values = typeof value === 'object' ? value.map(String) : String(value);
    for (const text of typeof values === 'object' ? values : [values]) {
      http.validateHeaderValue(name, text);
    }
    const at = this.#findHeader(name);
    if (at < 0) this.answerHeaders.push(name, values);
    else this.answerHeaders[at + 1] = values;
    return this;
  }

  append(name: string, value: string): this {
    const at = this.#findHeader(name);
    const present = at < 0 ? [] : this.answerHeaders[at + 1];
    return this.set(name, [...(typeof present === 'string' ? [present] : (present ?? [])), value]);
  }

  json(value: unknown): void {
    this.#sendJson(value, 'ctx.json()');
  }

  html(text: string): void {
    this.#answer('ctx.html()', 'text/html; charset=utf-8', text);
  }

  send(body: Body): void {
    this.#send(body, 'ctx.send()');
  }

  /** Sends what a route handler returned; `ctx` itself, as `ctx.set()` returns it, is no response. */
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
      throw new TypeError(`Cannot answer with ${by} of type ${typeof value}: it has no JSON form`);
    }
    this.#answer(by, 'application/json; charset=utf-8', text);
  }

  #send(body: Body, by: string): void {
    const content = contentOf(body);
    let type = typeof content === 'string' ? 'text/plain; charset=utf-8' : OCTETS;
    if (isStream(content)) {
      content.on('error', () => {}); // it may fail before it is written, which finds the error
      this.streamLength = body instanceof Blob ? body.size : -1;
      if (body instanceof Blob && body.type !== '') type = body.type;
    }
    this.#answer(by, content === '' ? '' : type, content);
    if (content === '' && this.assignedStatus === 0) this.assignedStatus = 204;
  }

  redirect(url: string, status = 302): void {
    if (![301, 302, 303, 307, 308].includes(status)) {
      throw new RangeError(
        `Cannot redirect with status "${String(status)}": expected 301, 302, 303, 307 or 308`,
      );
    }
    this.set('Location', encodeUrl(url));
    this.#answer('ctx.redirect()', '', '');
    this.assignedStatus = status;
  }

  throw(status: number, message?: string): never {
    throw httpErrorOf(status, message);
  }

  hasHeader(name: string): boolean {
    return this.#findHeader(name) >= 0;
  }

  deleteHeader(name: string): void {
    const at = this.#findHeader(name);
    if (at >= 0) this.answerHeaders.splice(at, 2);
  }

  /** Forgets what was answered, and the headers that described it: an error takes its place. */
  discardAnswer(): void {
    if (isStream(this.answerBody)) this.answerBody.destroy();
    this.answeredBy = '';
    this.answerBody = '';
    this.answerType = '';
    this.answerHeaders = this.answerHeaders.filter(
      (_, at, headers) => !CONTENT_HEADER.test(String(headers[at - (at % 2)])),
    );
    const at = this.#findHeader('Cache-Control');
    if (at >= 0 && !preventsReuse(String(this.answerHeaders[at + 1]))) {
      this.answerHeaders[at + 1] = 'no-store'; // without the header, caches may store a 404 (RFC 9111 §4.2.2)
    }
  }

  #answer(by: string, type: string, body: Content): void {
    const isSent = this.finished || this.raw.res.headersSent;
    if (isSent || this.answeredBy !== '') {
      if (isStream(body)) body.destroy();
      throw new Error(
        isSent
          ? `Cannot answer with ${by}: the answer has been sent`
          : `Cannot answer with ${by}: ${this.answeredBy} has answered this request`,
      );
    }
    this.answeredBy = by;
    this.answerType = type;
    this.answerBody = body;
  }

  #findHeader(name: string): number {
    const headers = this.answerHeaders;
    for (let at = 0; at < headers.length; at += 2) {
      const present = headers[at] as string;
      if (present === name) return at;
      if (present.length === name.length && present.toLowerCase() === name.toLowerCase()) return at;
    }
    return -1;
  }

  #forwarded(): Forwarding {
    this.#forwarding ??= readForwarding(
      this.raw.req.socket.remoteAddress,
      this.get('x-forwarded-for'),
      this.#settings.isTrustedProxy,
    );
    return this.#forwarding;
  }

  #watch(): AbortController {
    const abort = new AbortController();
    const { res } = this.raw;
    const { deadlineMs } = this.#settings;
    const leftMs = this.#startedMs + deadlineMs - performance.now();
    const timer = deadlineMs > 0 ? setTimeout(expire, Math.max(0, leftMs), abort) : undefined;
    const leave = () => {
      clearTimeout(timer);
      if (!res.writableFinished) {
        abort.abort(
          new DOMException('The client left before the answer was complete', 'AbortError'),
        );
      }
    };
    if (res.destroyed) leave();
    else res.once('close', leave);
    return abort;
  }
}

/** Programs set few different headers: those whose names were fine are remembered, up to a bound. */
const checkedNames = new Set<string>();
const MAX_CHECKED_NAMES = 1_000;

function checkName(name: string): void {
  http.validateHeaderName(name);
  if (FRAMING_HEADER.test(name)) {
    throw new TypeError(`Cannot set header "${name}": only the server frames messages`);
  }
  if (checkedNames.size < MAX_CHECKED_NAMES) checkedNames.add(name);
}

function expire(abort: AbortController): void {
  abort.abort(new DOMException('The deadline of the request passed', 'TimeoutError'));
}

/** `Content-Length` is one too: what a program says of it is replaced by what is true. */
const FRAMING_HEADER = /^(?:transfer-encoding|trailer)$/i;
/**
 * Headers that describe the content of one response only. Policies such as `Content-Security-Policy`
 * apply to an error response as well.
 */
const CONTENT_HEADER =
  /^(?:content-(?:type|length|encoding|language|range|disposition|location|digest|md5)|repr-digest|digest|etag|last-modified|expires|location|accept-ranges)$/i;

/** Whether no cache reuses a response with this `Cache-Control` unasked; `no-cache="…"` is about fields. */
function preventsReuse(cacheControl: string): boolean {
  const directives = cacheControl.replace(/"(?:[^"\\]|\\.)*"?/g, '""').split(',');
  return directives.some((directive) => /^\s*no-(?:store|cache)\s*$/i.test(directive));
}

/** Percent-encodes what a URI may not contain (RFC 3986 §2); valid percent escapes stay as they are. */
function encodeUrl(url: string): string {
  return String(url)
    .toWellFormed()
    .replace(/%(?![\dA-Fa-f]{2})|[^!#$%&'()*+,\-./\d:;=?@A-Z[\]_a-z~]/gu, (text) =>
      encodeURIComponent(text),
    );
}
