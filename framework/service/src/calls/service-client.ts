import {
  type CallContext,
  type Client,
  createClient,
  type Intercept,
  ProblemError,
} from '@fw/client';
import type { Context } from 'fw';

import { type BreakerOptions, createBreaker } from './circuit-breaker.ts';

export interface ServiceClientOptions extends BreakerOptions {
  /** The name of the other service in errors. */
  readonly name: string;
  /** The address of the other service; paths are appended to it. */
  readonly baseUrl: string;
  /** Header fields of every request, such as `User-Agent`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Time limit of one attempt, including the response body, in milliseconds. Default 1 s. */
  readonly timeoutMs?: number;
  /** The largest response body, in bytes. Default 1 MiB. */
  readonly limitBytes?: number;
  /** The longest wait before the second attempt, in milliseconds. Default 50. */
  readonly retryDelayMs?: number;
}

/**
 * Creates a client of another service with a circuit breaker, at most two attempts per call, and a span
 * for each attempt. The service responds with 503 if a handler does not catch the `ProblemError` of a call.
 *
 * ```ts
 * const users = createServiceClient<paths>({ name: 'users', baseUrl: 'http://localhost:8081' });
 * const { data } = await users.get('/api/v2/users/figures', { ctx });
 * ```
 *
 * @throws {TypeError} if `baseUrl` is not an http address
 */
export function createServiceClient<Paths>(options: ServiceClientOptions): Client<Paths> {
  const { name, baseUrl, headers, limitBytes, timeoutMs = 1_000, retryDelayMs = 50 } = options;
  return createClient<Paths>({
    name,
    baseUrl,
    headers,
    limitBytes,
    retryDelayMs,
    attempts: 2,
    attemptMs: timeoutMs,
    deadlineMs: 2 * timeoutMs + retryDelayMs,
    intercept: protectAndTrace(name, options),
  });
}

/** Sends no request while the circuit breaker is open, and records each one as a span. */
function protectAndTrace(api: string, options: BreakerOptions): Intercept {
  const breaker = createBreaker(options);
  return async ({ method, url, headers, ctx, requestId }, next) => {
    if (!breaker.allowsCall()) {
      const text = 'it has failed repeatedly';
      throw new ProblemError({ api, reason: 'open', text, requestId });
    }
    const span = stateOf(ctx)?.trace?.call({ method, url });
    if (span) headers.set('traceparent', span.traceparent);
    try {
      const response = await next();
      span?.end({ status: response.status });
      if (response.status >= 500) breaker.failed();
      else breaker.succeeded();
      return response;
    } catch (error) {
      span?.end({ error });
      // Otherwise the caller aborted the call.
      if (error instanceof ProblemError) breaker.failed();
      throw error;
    }
  };
}

/** The state of the request; undefined if `ctx` is not a whole context. */
function stateOf(ctx: (CallContext & Partial<Pick<Context, 'state'>>) | undefined) {
  return ctx?.state;
}
