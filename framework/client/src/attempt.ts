/** The request on whose behalf a call is made; the context of an fw handler has these members. */
export interface CallContext {
  /** Sent as `X-Request-Id`. */
  readonly requestId?: string;
  /** Aborts the call. */
  readonly signal?: AbortSignal;
  /** Reads a header of the request: `traceparent` and `tracestate` are sent on. */
  get?(name: string): string | undefined;
}

/** One attempt of a call. */
export interface Attempt {
  readonly method: string;
  readonly url: URL;
  /** The headers of the request; an interceptor may change them. */
  readonly headers: Headers;
  /** The request that the call belongs to, if the caller passed one. */
  readonly ctx: CallContext | undefined;
  readonly requestId: string;
}

/** The bytes of a response. */
export type ResponseBody = ReadableStream<Uint8Array>;

/** A complete response. */
export interface RawResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body of a successful response to `stream()`, which is not read: `text` is empty. */
  readonly body?: ResponseBody | null;
}

/**
 * Runs around each attempt of a call: `next` sends the request and resolves with any complete response,
 * also with an error status. It rejects if none arrives, or with the reason of the caller's abort signal.
 */
export type Intercept = (
  attempt: Attempt,
  next: () => Promise<RawResponse>,
) => Promise<RawResponse>;

/** How an attempt is sent. */
interface SendOptions {
  readonly body: RequestInit['body'];
  readonly signal: AbortSignal;
  readonly limitBytes: number;
  /** Whether the caller reads the body of a success. */
  readonly isStream: boolean;
}

/**
 * Sends one request and reads the whole response.
 *
 * @throws {RangeError} if the body of the response is longer than `limitBytes`
 */
export async function send(
  { method, url, headers }: Attempt,
  { body, signal, limitBytes, isStream }: SendOptions,
): Promise<RawResponse> {
  const response = await fetch(url, {
    method,
    headers,
    signal,
    redirect: 'manual',
    body,
    // Required for a stream, and ignored for other bodies (https://fetch.spec.whatwg.org/#dom-requestinit-duplex).
    duplex: 'half',
    // Sends `Cache-Control: no-cache`, unless it is set, as EventSource does. If this set the header, a
    // browser would need permission for it on another origin.
    ...(isStream && { cache: 'no-store' }),
  } as RequestInit);
  const head = { status: response.status, headers: response.headers };
  if (isStream && response.ok) return { ...head, text: '', body: response.body };
  return { ...head, text: await readText(response, limitBytes) };
}

async function readText({ body }: Response, limitBytes: number): Promise<string> {
  const decoder = new TextDecoder();
  const reader = body?.getReader();
  let text = '';
  let length = 0;
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
    length += part.value.length;
    if (length > limitBytes) {
      void reader?.cancel();
      throw new RangeError(`its response is longer than ${limitBytes} bytes`);
    }
    text += decoder.decode(part.value, { stream: true });
  }
  return text + decoder.decode();
}

/** Ends what runs too long, or what nothing waits for any more. */
interface Limit {
  /** Aborts when a source aborts, with its reason, or when the time is over. */
  readonly signal: AbortSignal;
  /**
   * Ends the limit. From then on it needs no memory, unlike `AbortSignal.any()`, which Node keeps while it has
   * listeners (https://github.com/nodejs/node/issues/54614), and `AbortSignal.timeout()`.
   */
  stop(): void;
}

/** Starts a limit of `ms` milliseconds that also ends when one of `sources` aborts. Default: no time limit. */
export function startLimit(sources: readonly AbortSignal[], ms?: number): Limit {
  const controller = new AbortController();
  const abort = () => controller.abort(sources.find(({ aborted }) => aborted)?.reason);
  const timer = ms === undefined ? undefined : setTimeout(abort, ms);
  for (const source of sources) source.addEventListener('abort', abort);
  if (sources.some(({ aborted }) => aborted)) abort();
  return {
    signal: controller.signal,
    stop() {
      clearTimeout(timer);
      for (const source of sources) source.removeEventListener('abort', abort);
    },
  };
}

/**
 * Rejects with `error()` after `signal` aborts, and after the promises that the abort rejects: an interceptor
 * that waits for the response can still replace the failure.
 */
export function rejectAfter(signal: AbortSignal, error: () => unknown): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => setTimeout(() => reject(error())), { once: true });
  });
}
