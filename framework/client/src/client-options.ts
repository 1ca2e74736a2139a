import { type CallContext, type Intercept, startLimit } from './attempt.ts';

/** The value of a parameter; null and undefined are not sent. */
type Value = string | number | boolean | bigint | Date | null | undefined;

/** Header fields of a request, by name. */
export type HeaderFields = Readonly<Record<string, Value | readonly Value[]>>;

/** The time as a client sees it; tests pass their own. */
export interface ClientClock {
  /** The time in milliseconds since 1970. */
  now(): number;
  /** Resolves after `ms` milliseconds; rejects with the reason of `signal` once it aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

export interface ClientOptions {
  /** The address of the API; the paths of the document are appended to it. */
  readonly baseUrl: string;
  /** The name of the API in errors. Default: the host of `baseUrl`. */
  readonly name?: string | undefined;
  /** Header fields of every request, such as `User-Agent` or `Authorization`. */
  readonly headers?: HeaderFields | undefined;
  /** Time limit of a call, including retries, interceptors and the response body, in milliseconds. Default 10 s. */
  readonly deadlineMs?: number | undefined;
  /** Time limit of the request and response of one attempt, in milliseconds. Default: that of the call. */
  readonly attemptMs?: number | undefined;
  /** The maximum number of attempts of a call; 1 disables retries. Default 3. */
  readonly attempts?: number | undefined;
  /** The longest random delay before the second attempt; doubles with each further one. Default 100 ms. */
  readonly retryDelayMs?: number | undefined;
  /**
   * Whether POST requests get a random `Idempotency-Key`, without which a request that the server may have
   * received is not repeated. Only for an API that honours the key. Default false.
   */
  readonly idempotencyKeys?: boolean | undefined;
  /** The largest response body, in bytes. Default 1 MiB. */
  readonly limitBytes?: number | undefined;
  /** Memory for responses with an ETag, in bytes; 0 disables conditional requests. Default 1 MiB. */
  readonly cacheBytes?: number | undefined;
  /** Runs around every attempt, for example for a circuit breaker or a span. */
  readonly intercept?: Intercept | undefined;
  /** The time, for tests. */
  readonly clock?: ClientClock | undefined;
}

/** The options of every call, besides the parameters of its operation. */
export interface CallOptions {
  /** The request that the call belongs to: the source of request id, trace and abort signal. */
  readonly ctx?: CallContext | undefined;
  /** Aborts the call; the call then rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
  /** Time limit of this call, including retries, in milliseconds. Default: that of the client. */
  readonly deadlineMs?: number | undefined;
  /** Makes the change only if the resource still has this ETag (`If-Match`), else the response is 412. */
  readonly ifMatch?: string | undefined;
}

/** The options of a client, with the defaults. */
export type ClientSettings = {
  readonly [Name in keyof ClientOptions]-?: Exclude<ClientOptions[Name], undefined>;
};

const MIB = 1024 ** 2;

/** Longer timers fire immediately. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Reads the options of a client and applies the defaults.
 *
 * @throws {TypeError} if `baseUrl` is not an http address, or an option is unknown or invalid
 */
export function readClientOptions(options: ClientOptions): ClientSettings {
  const { url, authorization } = readBaseUrl(options.baseUrl);
  const {
    name = url.host,
    headers: given = {},
    deadlineMs = 10_000,
    attemptMs = deadlineMs,
    attempts = 3,
    retryDelayMs = 100,
    idempotencyKeys = false,
    limitBytes = MIB,
    cacheBytes = MIB,
    intercept = (_, next) => next(),
    clock = systemClock,
  } = options;
  const headers = authorization ? { Authorization: authorization, ...given } : given;
  const settings: ClientSettings = {
    baseUrl: url.href.replace(/\/$/, ''),
    name,
    headers,
    deadlineMs,
    attemptMs,
    attempts,
    retryDelayMs,
    idempotencyKeys,
    limitBytes,
    cacheBytes,
    intercept,
    clock,
  };
  for (const option of Object.keys(options)) {
    if (!(option in settings)) {
      throw new TypeError(
        `createClient() has no option "${option}"; its options: ${Object.keys(settings).join(', ')}`,
      );
    }
  }
  checkTimeLimits({ deadlineMs, attemptMs });
  checkRange({ attempts }, [1, 100]);
  checkRange({ retryDelayMs }, [0, MAX_TIMER_MS]);
  checkRange({ limitBytes, cacheBytes }, [0, Number.MAX_SAFE_INTEGER]);
  return settings;
}

/** @throws {TypeError} if a time limit is not a whole number of milliseconds that a timer can measure */
export function checkTimeLimits(limits: Readonly<Record<string, number>>): void {
  checkRange(limits, [1, MAX_TIMER_MS]);
}

function checkRange(
  values: Readonly<Record<string, number>>,
  [from, to]: readonly [number, number],
): void {
  for (const [name, value] of Object.entries(values)) {
    if (Number.isInteger(value) && value >= from && value <= to) continue;
    throw new TypeError(
      `Cannot read option ${name} "${value}": expected a whole number from ${from} to ${to}`,
    );
  }
}

/** An address without user and password, which `fetch` rejects, and the header that contains them. */
function readBaseUrl(text: string): { readonly url: URL; readonly authorization?: string } {
  const url = URL.parse(text);
  const user = decode(`${url?.username}:${url?.password}`);
  if (!url || user === undefined || !/^https?:$/.test(url.protocol) || url.search || url.hash) {
    const shown = String(text).replace(/.*@/s, '…@');
    throw new TypeError(
      `Cannot read option baseUrl "${shown}" of createClient(): expected an http address without query`,
    );
  }
  if (user === ':') return { url };
  url.username = '';
  url.password = '';
  const bytes = new TextEncoder().encode(user);
  return { url, authorization: `Basic ${btoa(String.fromCharCode(...bytes))}` };
}

/** `undefined` for malformed percent-encoding. */
function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

const systemClock: ClientClock = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const limit = startLimit([signal], ms);
      limit.signal.addEventListener('abort', () => {
        limit.stop();
        if (signal.aborted) reject(signal.reason);
        else resolve();
      });
    }),
};
