import { type Attempt, type RawResponse, rejectAfter, send, startLimit } from './attempt.ts';
import { checkTimeLimits } from './client-options.ts';
import { type EtagCache, revalidate } from './etag-cache.ts';
import {
  newProblemError,
  ProblemError,
  problemOf,
  readData,
  type Sender,
} from './problem-error.ts';
import type { PreparedRequest, UntypedCallOptions } from './request.ts';

/** A successful response. */
export interface ClientResponse<Data> {
  /** The JSON body; undefined if the response has none. */
  readonly data: Data;
  /** From 200 to 299. */
  readonly status: number;
  readonly headers: Headers;
  /** The version of the resource: pass it to `ifMatch` of a later change. */
  readonly etag: string | undefined;
}

/** A request with the options of its call, and where its response comes from. */
interface Call extends Sender {
  readonly options: UntypedCallOptions;
  /** Undefined for a stream: `data` is then the unread body of the response. */
  readonly cache?: EtagCache;
  /** The maximum number of attempts. */
  readonly attempts: number;
}

/**
 * Sends the request of a call until a response is final or the deadline does not allow another attempt.
 *
 * @throws {ProblemError} if the call fails
 * @throws {TypeError} if the deadline is not a number of milliseconds
 */
export async function runCall(call: Call): Promise<ClientResponse<unknown>> {
  const { request, options, settings, attempts } = call;
  const { clock, retryDelayMs } = settings;
  const { deadlineMs = settings.deadlineMs } = options;
  checkTimeLimits({ deadlineMs });
  const endMs = clock.now() + deadlineMs;
  const { signal: caller, stop } = startLimit(callersOf(options));
  const delivery = { isSent: false };
  try {
    for (let attempt = 1; ; attempt++) {
      const outcome = await runAttempt(call, { caller, attempt, deadlineMs, endMs, delivery });
      if (!(outcome instanceof ProblemError)) return outcome;
      const { retryAfterSeconds = 0 } = outcome;
      const waitMs = Math.max(backoffMs(retryDelayMs, attempt), retryAfterSeconds * 1_000);
      const isLast = attempt >= attempts || clock.now() + waitMs >= endMs;
      if (isLast || !isTransient(outcome) || !isRepeatable(request, delivery.isSent)) throw outcome;
      await clock.sleep(waitMs, caller);
    }
  } finally {
    stop();
  }
}

/** The signals that abort a call or a stream. */
export function callersOf({ signal, ctx }: UntypedCallOptions): AbortSignal[] {
  return [signal, ctx?.signal].filter((each) => each !== undefined);
}

/** Methods that have the same effect once or several times (RFC 9110 §9.2.2). */
const IDEMPOTENT = ['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'];

/** Statuses of a server that is overloaded or unavailable for a moment. */
const TRANSIENT = [429, 502, 503, 504];

/** Whether a request may be sent again without a second effect; `isSent`: the server may have received it. */
function isRepeatable({ method, headers, body }: PreparedRequest, isSent: boolean): boolean {
  if (body instanceof ReadableStream) return false;
  return !isSent || IDEMPOTENT.includes(method) || headers.has('Idempotency-Key');
}

/** Whether another attempt may succeed after this error. */
export function isTransient({ reason, status = 0 }: Partial<ProblemError>): boolean {
  return reason === 'status'
    ? TRANSIENT.includes(status)
    : reason === 'timeout' || reason === 'unreachable';
}

/** The longest limit of a random wait, unless the first one is longer. */
const MAX_BACKOFF_MS = 5_000;

/** A random part of a limit that doubles with each attempt, from 1 (full jitter). */
export function backoffMs(retryDelayMs: number, attempt: number): number {
  const doubledMs = retryDelayMs * 2 ** Math.min(attempt - 1, 10);
  return Math.random() * Math.min(doubledMs, Math.max(retryDelayMs, MAX_BACKOFF_MS));
}

/** What ends an attempt: its caller, or the deadline of the call; and what the attempts have in common. */
interface Limits {
  readonly caller: AbortSignal;
  /** The number of the attempt, from 1. */
  readonly attempt: number;
  readonly deadlineMs: number;
  /** When the deadline is, by the clock of the client. */
  readonly endMs: number;
  /** Whether the server may have received the request in this or an earlier attempt. */
  readonly delivery: { isSent: boolean };
}

/**
 * Sends the request once, through the interceptor; resolves with the error if that fails. The response is
 * the stored one if the server confirms that it is current.
 *
 * @throws the reason of `caller` if it aborts, and an error of the interceptor
 */
async function runAttempt(
  call: Call,
  limits: Limits,
): Promise<ClientResponse<unknown> | ProblemError> {
  const { request, options, settings, cache } = call;
  const { caller, deadlineMs, endMs } = limits;
  const { body: _, ...sent } = request;
  const attempt = { ...sent, headers: new Headers(request.headers), ctx: options.ctx };
  caller.throwIfAborted();
  const { signal, stop } = startLimit([caller], Math.max(1, endMs - settings.clock.now()));
  const send = (conditional: Attempt) => sendInTime(call, conditional, { ...limits, signal });
  try {
    const response = await Promise.race([
      settings.intercept(attempt, () => (cache ? revalidate(cache, attempt, send) : send(attempt))),
      rejectAfter(signal, () => caller.reason ?? timeout(call, limits, deadlineMs)),
    ]);
    const { status, headers } = response;
    if (status < 200 || status > 299) return problemOf(response, call);
    const data = cache ? readData(response, call) : response.body;
    return { data, status, headers, etag: headers.get('ETag') ?? undefined };
  } catch (error) {
    if (error instanceof ProblemError) return error;
    throw error;
  } finally {
    stop();
  }
}

async function sendInTime(
  call: Call,
  attempt: Attempt,
  limits: Limits & { readonly signal: AbortSignal },
): Promise<RawResponse> {
  const { attemptMs, limitBytes } = call.settings;
  const { body } = call.request;
  const isStream = !call.cache;
  const { signal, stop } = startLimit([limits.signal], attemptMs);
  let isSent = true;
  try {
    return await send(attempt, { body, signal, limitBytes, isStream });
  } catch (error) {
    isSent = !isUnsent(error);
    limits.caller.throwIfAborted();
    if (limits.signal.aborted) throw timeout(call, limits, limits.deadlineMs);
    if (signal.aborted) throw timeout(call, limits, attemptMs);
    throw failureOf(call, error);
  } finally {
    limits.delivery.isSent ||= isSent;
    stop();
  }
}

/** Errors of Node and Bun before a connection was open; in a browser, errors have no code. */
const UNSENT = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|UND_ERR_CONNECT_TIMEOUT|ConnectionRefused)$/;

/** Whether `error` of `fetch` proves that the server has received nothing of the request. */
export function isUnsent(error: unknown): boolean {
  const { code, cause } = error as { readonly code?: string; readonly cause?: { code?: string } };
  return UNSENT.test(cause?.code ?? code ?? '');
}

function timeout(call: Call, { attempt }: Limits, limitMs: number): ProblemError {
  const count = attempt === 1 ? '' : ` (attempt ${attempt})`;
  return newProblemError(call, { reason: 'timeout', text: `no response in ${limitMs} ms${count}` });
}

function failureOf(call: Call, error: unknown): ProblemError {
  const { message, cause = error } = error as Error;
  if (error instanceof RangeError) {
    return newProblemError(call, { reason: 'unreadable', text: message });
  }
  // fetch wraps the error of the connection.
  const text = Object(cause).message || message;
  return newProblemError(call, { reason: 'unreachable', text, cause });
}
