import type { RawResponse } from './attempt.ts';
import type { ProblemError } from './problem-error.ts';
import type { PreparedRequest } from './request.ts';

/** Methods that have the same effect once or several times (RFC 9110 §9.2.2). */
const IDEMPOTENT = ['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'];

/** Statuses of a server that is overloaded or unavailable for a moment. */
const TRANSIENT = [429, 502, 503, 504];

/** Errors of Node and Bun before a connection was open; in a browser, errors have no code. */
const UNSENT = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|UND_ERR_CONNECT_TIMEOUT|ConnectionRefused)$/;

/** Whether `error` of `fetch` proves that the server has received nothing of the request. */
export function isUnsent(error: unknown): boolean {
  const { code, cause } = error as { readonly code?: string; readonly cause?: { code?: string } };
  return UNSENT.test(cause?.code ?? code ?? '');
}

/** Whether a request may be sent again without a second effect; `isSent`: the server may have received it. */
export function isRepeatable({ method, headers, body }: PreparedRequest, isSent: boolean): boolean {
  if (body instanceof ReadableStream) return false;
  return !isSent || IDEMPOTENT.includes(method) || headers.has('Idempotency-Key');
}

/** Whether another attempt may succeed. */
export function isTransient({ reason, status = 0 }: ProblemError): boolean {
  return reason === 'status'
    ? TRANSIENT.includes(status)
    : reason === 'timeout' || reason === 'unreachable';
}

/**
 * The wait in milliseconds before another attempt: a random part of a limit that doubles each time (full
 * jitter), but at least as long as the server asks for.
 */
export function retryWaitMs(
  { retryAfterSeconds = 0 }: ProblemError,
  { retryDelayMs, attempt }: { readonly retryDelayMs: number; readonly attempt: number },
): number {
  const jitterMs = Math.random() * retryDelayMs * 2 ** (attempt - 1);
  return Math.max(jitterMs, retryAfterSeconds * 1_000);
}

/** Reads `Retry-After`, seconds or an HTTP date (RFC 9110 §10.2.3), in seconds; an invalid value is ignored. */
export function readRetryAfter({ headers }: RawResponse, nowMs: number): number | undefined {
  const text = headers.get('Retry-After') ?? '';
  if (/^\d+$/.test(text)) return Number(text);
  const dateMs = /^[A-Z][a-z]{2,8}[, ]/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(dateMs) ? undefined : Math.max(0, Math.ceil((dateMs - nowMs) / 1_000));
}
