import { setTimeout as sleep } from 'node:timers/promises';

import { type Context, ServiceUnavailableError } from 'fw';
import { readTraceparent } from '../tracing/trace-context.ts';
import { type BreakerOptions, createBreaker } from './breaker.ts';
import {
  AnswerTooLongError,
  type CallAnswer,
  CallTimeoutError,
  callOnce,
  createAgent,
} from './service-call.ts';

/** What a call needs to know of the request that it is made for: the context of that will do. */
export type CallContext = Pick<Context, 'requestId' | 'get' | 'signal'> &
  Partial<Pick<Context, 'state'>>;

export interface ServiceClientOptions extends BreakerOptions {
  /** The other service, as errors name it. */
  readonly name: string;
  /** Where it is; paths are added to this. */
  readonly baseUrl: string;
  /** How long one try may take, the whole answer included, in milliseconds. Default 1 s. */
  readonly timeoutMs?: number;
  /** The longest answer that is read, in bytes. Default 1 MiB. */
  readonly limitBytes?: number;
  /** The longest wait before the second try, in milliseconds. Default 50. */
  readonly retryDelayMs?: number;
}

/** Why there is no answer; `open`: it has failed so often that nobody asks for a while. */
export type CallFailure = 'timeout' | 'unreachable' | 'status' | 'unreadable' | 'open';

/** Another service has not answered, or not as it should: 503 to whoever cannot do without. */
export class ServiceCallError extends ServiceUnavailableError {
  /** The name of the other service. */
  readonly service: string;
  readonly reason: CallFailure;

  constructor(
    service: string,
    reason: CallFailure,
    { detail, ...options }: ErrorOptions & { readonly detail: string },
  ) {
    super(`Cannot ask ${service}: ${detail}`, { ...options, headers: { 'Retry-After': '1' } });
    this.service = service;
    this.reason = reason;
  }
}

/** Asks another service, on behalf of a request. */
export interface ServiceClient {
  /**
   * Reads what `path` answers as JSON. The id and the trace of the request go along.
   *
   * @throws {ServiceCallError} if there is no such answer, after a second try where that may help
   */
  getJson(path: string, call: CallContext): Promise<unknown>;
  /** Hangs up the connections that are kept for the next call. */
  close(): void;
}

/**
 * Creates a client of another service: a time-out for each try, a second try where that may help, and
 * none at all for a while after failures in a row.
 *
 * ```ts
 * const users = createServiceClient({ name: 'users', baseUrl: 'http://localhost:8081' });
 * const figures = await users.getJson('/api/v2/users/figures', ctx);
 * ```
 *
 * @throws {TypeError} if `baseUrl` is no http address
 */
export function createServiceClient(options: ServiceClientOptions): ServiceClient {
  const { name, timeoutMs = 1_000, limitBytes = 1024 ** 2, retryDelayMs = 50 } = options;
  const base = readBaseUrl(options.baseUrl);
  const agent = createAgent(new URL(base));
  const breaker = createBreaker(options);

  /** Answers with what came, or with what stood in the way. */
  async function tryOnce(url: URL, call: CallContext): Promise<CallAnswer | ServiceCallError> {
    if (!breaker.admit()) {
      return new ServiceCallError(name, 'open', { detail: 'it has failed repeatedly' });
    }
    const span = call.state?.trace?.call({ method: 'GET', url });
    const headers = headersOf(call, span?.traceparent);
    try {
      const { signal } = call;
      const answer = await callOnce(url, { agent, headers, signal, timeoutMs, limitBytes });
      span?.end(answer);
      if (answer.status >= 500) breaker.failed();
      else breaker.succeeded();
      return answer;
    } catch (error) {
      span?.end({ error });
      call.signal.throwIfAborted();
      breaker.failed();
      return failureOf(error);
    }
  }

  function failureOf(error: unknown): ServiceCallError {
    if (error instanceof CallTimeoutError) {
      return new ServiceCallError(name, 'timeout', { detail: `no answer in ${timeoutMs} ms` });
    }
    if (error instanceof AnswerTooLongError) {
      const detail = `its answer is longer than ${limitBytes} bytes`;
      return new ServiceCallError(name, 'unreadable', { detail });
    }
    const detail = error instanceof Error ? error.message : String(error);
    return new ServiceCallError(name, 'unreachable', { detail, cause: error });
  }

  function readAnswer({ status, text }: CallAnswer): unknown {
    if (status !== 200) {
      throw new ServiceCallError(name, 'status', { detail: `it answers ${status}` });
    }
    try {
      return JSON.parse(text);
    } catch (cause) {
      throw new ServiceCallError(name, 'unreadable', { detail: 'its answer is no JSON', cause });
    }
  }

  return {
    async getJson(path, call) {
      const url = new URL(`${base}${path}`);
      let outcome = await tryOnce(url, call);
      if (mayPass(outcome)) {
        // Not all at the same moment: whoever failed them all would meet them all again.
        await sleep(Math.random() * retryDelayMs, undefined, { signal: call.signal });
        outcome = await tryOnce(url, call);
      }
      if (outcome instanceof ServiceCallError) throw outcome;
      return readAnswer(outcome);
    },
    close: () => agent.destroy(),
  };
}

/** Whether a second try may end otherwise: GET changes nothing, so that it does no harm. */
function mayPass(outcome: CallAnswer | ServiceCallError): boolean {
  return outcome instanceof ServiceCallError
    ? outcome.reason === 'timeout' || outcome.reason === 'unreachable'
    : [502, 503, 504].includes(outcome.status);
}

/** Where this process sends no spans of its own, the caller's trace goes on as it came. */
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

/** `text` without a slash at its end. */
function readBaseUrl(text: string): string {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.search || url.hash) {
    throw new TypeError(`Cannot ask a service at "${text}": expected an http address`);
  }
  return url.href.replace(/\/$/, '');
}
