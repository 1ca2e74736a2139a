import { type Attempt, type RawResponse, send } from './attempt.ts';
import { checkTimeLimits } from './client-options.ts';
import { type EtagCache, revalidate } from './etag-cache.ts';
import { type CallFailure, ProblemError } from './problem-error.ts';
import type { UntypedCallOptions } from './request.ts';
import { problemOf, readData, type Sender } from './response.ts';
import { isRepeatable, isTransient, retryWaitMs } from './retry.ts';
import { startTimer } from './timer.ts';
import type { ClientResponse } from './typed-calls.ts';

/** A request with the options of its call, and where its response comes from. */
export interface Call extends Sender {
  readonly options: UntypedCallOptions;
  readonly cache: EtagCache;
}

/**
 * Sends the request of a call until a response is final or the deadline does not allow another attempt.
 *
 * @throws {ProblemError} if the call fails
 * @throws {TypeError} if the deadline is not a number of milliseconds
 */
export async function runCall(call: Call): Promise<ClientResponse<unknown>> {
  const { request, options, settings } = call;
  const { clock, attempts, retryDelayMs } = settings;
  const { deadlineMs = settings.deadlineMs } = options;
  checkTimeLimits({ deadlineMs });
  const endMs = clock.now() + deadlineMs;
  const caller = AbortSignal.any(
    [options.signal, options.ctx?.signal].filter((signal) => signal !== undefined),
  );
  for (let attempt = 1; ; attempt++) {
    const limitMs = Math.max(1, Math.min(settings.attemptMs, endMs - clock.now()));
    const outcome = await runAttempt(call, caller, limitMs);
    if (!(outcome instanceof ProblemError)) return outcome;
    const waitMs = retryWaitMs(outcome, { retryDelayMs, attempt });
    const isLast = attempt >= attempts || clock.now() + waitMs >= endMs;
    if (isLast || !isTransient(outcome) || !isRepeatable(request)) throw outcome;
    await clock.sleep(waitMs, caller);
  }
}

/** @throws the reason of `caller` if it aborts */
async function runAttempt(
  call: Call,
  caller: AbortSignal,
  limitMs: number,
): Promise<ClientResponse<unknown> | ProblemError> {
  try {
    const response = await exchange(call, caller, limitMs);
    const { status, headers } = response;
    if (status < 200 || status > 299) return problemOf(response, call);
    const data = readData(response, call);
    return { data, status, headers, etag: headers.get('ETag') ?? undefined };
  } catch (error) {
    if (error instanceof ProblemError) return error;
    throw error;
  }
}

/** Sends one request through the interceptor; a stored response if the server confirms that it is current. */
async function exchange(call: Call, caller: AbortSignal, limitMs: number): Promise<RawResponse> {
  const { request, options, settings, cache } = call;
  const { method, url, requestId } = request;
  const headers = new Headers(request.headers);
  const attempt = { method, url, headers, ctx: options.ctx, requestId };
  caller.throwIfAborted();
  return settings.intercept(attempt, () =>
    revalidate(cache, attempt, (conditional) => sendInTime(call, conditional, { caller, limitMs })),
  );
}

async function sendInTime(
  call: Call,
  attempt: Attempt,
  { caller, limitMs }: { readonly caller: AbortSignal; readonly limitMs: number },
): Promise<RawResponse> {
  const timer = startTimer(limitMs);
  const { body } = call.request;
  const signal = AbortSignal.any([caller, timer.signal]);
  try {
    return await send(attempt, { body, signal, limitBytes: call.settings.limitBytes });
  } catch (error) {
    caller.throwIfAborted();
    if (timer.signal.aborted) throw failure(call, 'timeout', `no response in ${limitMs} ms`);
    throw failureOf(call, error);
  } finally {
    timer.stop();
  }
}

function failureOf(call: Call, error: unknown): ProblemError {
  const { message, cause = error } = error as Error;
  if (error instanceof RangeError) return failure(call, 'unreadable', message);
  // fetch wraps the error of the connection.
  const text = cause instanceof Error && cause.message !== '' ? cause.message : message;
  return failure(call, 'unreachable', text, cause);
}

function failure(call: Call, reason: CallFailure, text: string, cause?: unknown): ProblemError {
  const { settings, request } = call;
  return new ProblemError({
    api: settings.name,
    reason,
    text,
    requestId: request.requestId,
    cause,
  });
}
