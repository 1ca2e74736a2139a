import { randomFillSync } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Query } from '../context.ts';
import { parseQuery } from './query.ts';
import { isHost, type RequestTarget } from './request-target.ts';
import { type Forwarding, forwardedEntry, type IsTrusted, readForwarding } from './trust-proxy.ts';

/** Settings of the application for reading requests. */
export interface ReaderSettings {
  readonly isTrustedProxy: IsTrusted;
  /** Time after which `signal` aborts; 0: never. */
  readonly deadlineMs: number;
}

/** The error for a method that was destructured, as in `({ json }) => json({})`. */
export function detached(method: string): TypeError {
  return new TypeError(`ctx.${method} was called without ctx: write (ctx) => ctx.${method}(…)`);
}

const REQUEST_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** The request members of `ctx`. Parses query, addresses and ids on first use. */
export class RequestReader {
  readonly raw: { readonly req: IncomingMessage; readonly res: ServerResponse };
  readonly method: string;
  readonly path: string;
  readonly #target: RequestTarget;
  readonly #settings: ReaderSettings;
  readonly #startedMs: number;
  #query: Query | undefined = undefined;
  #forwarding: Forwarding | undefined = undefined;
  #requestId = '';
  #signal: AbortSignal | undefined = undefined;

  constructor(
    raw: { readonly req: IncomingMessage; readonly res: ServerResponse },
    target: RequestTarget,
    settings: ReaderSettings,
  ) {
    this.raw = raw;
    this.method = raw.req.method ?? 'GET';
    this.path = target.path;
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

  get(name: string): string | undefined {
    if (!this) throw detached('get');
    const value = this.raw.req.headers[name.toLowerCase()];
    if (typeof value === 'string') return value;
    return Array.isArray(value) ? value.join(', ') : undefined; // not inherited, like `constructor`
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

  get requestId(): string {
    if (this.#requestId === '') {
      const claimed = this.get('x-request-id');
      this.#requestId = claimed && REQUEST_ID.test(claimed) ? claimed : createRequestId();
    }
    return this.#requestId;
  }

  get signal(): AbortSignal {
    this.#signal ??= createAbortSignal(this.raw.res, this.#remainingMs());
    return this.#signal;
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

/**
 * A signal that aborts when the client disconnects before `res` is complete, or after `remainingMs`.
 * Without `remainingMs`, there is no deadline.
 */
function createAbortSignal(res: ServerResponse, remainingMs: number | undefined): AbortSignal {
  const abort = new AbortController();
  const timer =
    remainingMs === undefined ? undefined : setTimeout(expire, Math.max(0, remainingMs), abort);
  const onClose = () => {
    clearTimeout(timer);
    if (res.writableFinished) return;
    const reason = 'The client disconnected before the response was complete';
    abort.abort(new DOMException(reason, 'AbortError'));
  };
  if (res.destroyed) onClose();
  else res.once('close', onClose);
  return abort.signal;
}

function expire(abort: AbortController): void {
  abort.abort(new DOMException('The deadline of the request passed', 'TimeoutError'));
}

const ID_LENGTH = 32;
const random = Buffer.alloc(8_192);
let digits = '';
let at = 0;

/** A new request id: 32 random hexadecimal digits, like the ids of nginx. Generated in batches. */
export function createRequestId(): string {
  if (at === digits.length) {
    digits = randomFillSync(random).toString('hex');
    at = 0;
  }
  at += ID_LENGTH;
  return digits.slice(at - ID_LENGTH, at);
}
