import { setTimeout as sleep } from 'node:timers/promises';

import { type Context, ServiceUnavailableError } from 'fw';

import { readTraceparent } from '../tracing/trace-context.ts';
import { type BreakerOptions, createBreaker } from './breaker.ts';

/** The parts of a request that a call on its behalf needs; a `Context` has them. */
export type CallContext = Pick<Context, 'requestId' | 'get' | 'signal'> &
  Partial<Pick<Context, 'state'>>;

export interface ServiceClientOptions extends BreakerOptions {
  /** The name of the other service in errors. */
  readonly name: string;
  /** The address of the other service; paths are appended to it. */
  readonly baseUrl: string;
  /** Time limit of one attempt, including the response body, in milliseconds. Default 1 s. */
  readonly timeoutMs?: number;
  /** The largest response body, in bytes. Default 1 MiB. */
  readonly limitBytes?: number;
  /** The longest wait before the second attempt, in milliseconds. Default 50. */
  readonly retryDelayMs?: number;
}

/** Why a call failed; `open`: the circuit breaker rejected it. */
export type CallFailure = 'timeout' | 'unreachable' | 'status' | 'unreadable' | 'open';

/** A call to another service failed. If no handler catches it, the response is 503. */
export class ServiceCallError extends ServiceUnavailableError {
  /** The name of the other service. */
  readonly service: string;
  readonly reason: CallFailure;

  constructor(
    service: string,
    reason: CallFailure,
    { detail, ...options }: ErrorOptions & { readonly detail: string },
  ) {
    super(`Cannot call ${service}: ${detail}`, { ...options, headers: { 'Retry-After': '1' } });
    this.service = service;
    this.reason = reason;
  }
}

/** Calls another service on behalf of a request. */
export interface ServiceClient {
  /**
   * Reads the JSON response of GET `path`. The id and the trace of the request are sent along.
   *
   * @throws {ServiceCallError} if there is no such response, even after a second attempt
   */
  getJson(path: string, call: CallContext): Promise<unknown>;
}

/**
 * Creates a client of another service: each attempt has a time limit; after a time-out, a connection
 * error, 502, 503 or 504 there is a second attempt; after failures in a row a circuit breaker opens.
 *
 * ```ts
 * const users = createServiceClient({ name: 'users', baseUrl: 'http://localhost:8081' });
 * const statistics = await users.getJson('/api/v2/users/figures', ctx);
 * ```
 *
 * @throws {TypeError} if `baseUrl` is not an http address
 */
export function createServiceClient(options: ServiceClientOptions): ServiceClient {
  const { name, timeoutMs = 1_000, limitBytes = 1024 ** 2, retryDelayMs = 50 } = options;
  const base = readBaseUrl(options.baseUrl);
  const breaker = createBreaker(options);

  async function attempt(url: URL, call: CallContext): Promise<Reply | ServiceCallError> {
    call.signal.throwIfAborted();
    if (!breaker.admit()) return failure('open', 'it has failed repeatedly');
    const span = call.state?.trace?.call({ method: 'GET', url });
    try {
      const response = await fetch(url, {
        headers: headersOf(call, span?.traceparent),
        redirect: 'manual',
        signal: AbortSignal.any([call.signal, AbortSignal.timeout(timeoutMs)]),
      });
      const { status } = response;
      const text = await readText(response, limitBytes);
      span?.end({ status });
      if (status >= 500) breaker.failed();
      else breaker.succeeded();
      return { status, text };
    } catch (error) {
      span?.end({ error });
      call.signal.throwIfAborted();
      breaker.failed();
      return failureOf(error);
    }
  }

  function failureOf(error: unknown): ServiceCallError {
    if (error instanceof RangeError) return failure('unreadable', error.message);
    const { name: kind, message, cause = error } = error as Error;
    if (kind === 'TimeoutError') return failure('timeout', `no response in ${timeoutMs} ms`);
    // fetch wraps the error of the connection.
    return failure('unreachable', cause instanceof Error ? cause.message : message, cause);
  }

  function failure(reason: CallFailure, detail: string, cause?: unknown): ServiceCallError {
    return new ServiceCallError(name, reason, { detail, cause });
  }

  return {
    async getJson(path, call) {
      const url = new URL(`${base}${path}`);
      let reply = await attempt(url, call);
      if (isTransient(reply)) {
        // A random delay: otherwise all clients would retry at the same moment.
        await sleep(Math.random() * retryDelayMs, undefined, { signal: call.signal });
        reply = await attempt(url, call);
      }
      if (reply instanceof ServiceCallError) throw reply;
      if (reply.status !== 200) throw failure('status', `it responds with ${reply.status}`);
      try {
        return JSON.parse(reply.text);
      } catch (cause) {
        throw failure('unreadable', 'its response is not JSON', cause);
      }
    },
  };
}

interface Reply {
  readonly status: number;
  readonly text: string;
}

/** Whether a second attempt may succeed; it is safe because GET changes nothing. */
function isTransient(reply: Reply | ServiceCallError): boolean {
  return reply instanceof ServiceCallError
    ? reply.reason === 'timeout' || reply.reason === 'unreachable'
    : [502, 503, 504].includes(reply.status);
}

/** @throws {RangeError} if the body is longer than `limitBytes` */
async function readText({ body }: Response, limitBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    length += chunk.length;
    if (length > limitBytes) {
      throw new RangeError(`its response is longer than ${limitBytes} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** A process without tracing passes the trace of the caller on unchanged. */
function headersOf(call: CallContext, traceparent: string | undefined): Record<string, string> {
  const parent = traceparent ?? readTraceparent(call.get('traceparent'))?.text;
  const tracestate = parent === undefined ? undefined : call.get('tracestate');
  return {
    Accept: 'application/json',
    'X-Request-Id': call.requestId,
    ...(parent !== undefined && { traceparent: parent }),
    ...(tracestate !== undefined && { tracestate }),
  };
}

/** Returns `text` without a slash at its end. */
function readBaseUrl(text: string): string {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.search || url.hash) {
    throw new TypeError(`Cannot call a service at "${text}": expected an http address`);
  }
  return url.href.replace(/\/$/, '');
}
