import type { Context } from '../context.ts';
import { show } from '../options.ts';
import type { RequestContext } from '../request-context.ts';
import {
  headersOf,
  PROBLEM_TYPE,
  type Problem,
  problemOf,
  problemOfStatus,
  stackOf,
  statusOf,
} from './problem.ts';

export interface ErrorResponseOptions {
  /** Adds the stack, line by line, to the response. Default false. */
  readonly includeStack?: boolean;
}

/**
 * Records `thrown` as the response, an RFC 9457 problem, and replaces any other response. Logs errors
 * with status 500 and above, except those that the client causes: 501, and an abort because it
 * disconnected. An error caused by the deadline of the request is a 503.
 */
export function recordError(
  ctx: RequestContext,
  thrown: unknown,
  options: ErrorResponseOptions = {},
): void {
  const error = isDeadlineError(ctx, thrown) ? deadlineError(thrown) : thrown;
  const status = statusOf(error);
  if (status >= 500 && status !== 501 && !isClientAbort(ctx, error)) {
    ctx.log.error(
      `${ctx.method} ${ctx.path} failed with ${status} (request ${ctx.requestId})`,
      isError(error) ? error : notAnError(error),
    );
  }
  if (ctx.raw.res.headersSent) {
    ctx.raw.res.destroy(toError(error));
    return;
  }
  ctx.discardResponse();
  const problem = problemOf(error, ctx.requestId);
  recordProblem(ctx, options.includeStack ? { ...problem, stack: stackOf(error) } : problem);
  for (const [name, value] of Object.entries(headersOf(error))) ctx.set(name, value);
}

/** Records the problem of a status that was set without a body. */
export function recordProblemOfStatus(ctx: RequestContext): void {
  recordProblem(ctx, problemOfStatus(ctx.status, ctx.requestId));
}

function recordProblem(ctx: RequestContext, problem: Problem): void {
  ctx.assignedStatus = problem.status;
  ctx.respondedBy = 'an error';
  ctx.responseType = PROBLEM_TYPE;
  ctx.responseBody = JSON.stringify(problem);
}

/** `thrown` as an `Error`, which `destroy()` requires. */
export function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : notAnError(thrown);
}

/** Whether `thrown` is an error, also of another realm. */
function isError(thrown: unknown): boolean {
  return thrown instanceof Error || typeof Object(thrown).stack === 'string';
}

function notAnError(thrown: unknown): Error {
  const remedy =
    'throw an Error, such as new HttpError(status, message), or call ctx.throw(status)';
  return new TypeError(`Thrown: "${show(thrown)}", which is not an Error; ${remedy}`, {
    cause: thrown,
  });
}

/** Whether the deadline of the request caused `error`; Node's own functions wrap the reason. */
function isDeadlineError(ctx: RequestContext, error: unknown): boolean {
  if (!(error instanceof Error) || !/^(?:Timeout|Abort)Error$/.test(error.name)) return false;
  const { reason } = ctx.signal;
  return reason?.name === 'TimeoutError' && (error === reason || error.cause === reason);
}

function deadlineError(cause: unknown): Error {
  const error = new Error('The deadline of the request passed', { cause });
  return Object.assign(error, { status: 503, expose: false, headers: { 'Retry-After': '1' } });
}

/** Whether the disconnection of the client caused `error`. */
export function isClientAbort({ raw }: Pick<Context, 'raw'>, error: unknown): boolean {
  return raw.res.destroyed && error instanceof Error && error.name === 'AbortError';
}
