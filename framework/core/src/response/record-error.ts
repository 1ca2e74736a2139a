import { show } from '../options.ts';
import { isClientAbort } from '../request/abort.ts';
import type { RequestContext } from '../request-context.ts';
import {
  hasOwnStatus,
  PROBLEM_TYPE,
  type Problem,
  problemOf,
  problemOfStatus,
  statusOf,
} from './problem.ts';

export interface ErrorResponseOptions {
  /** Adds the stack, line by line, to a response from 500 on. Default false. */
  readonly includeStack?: boolean;
}

/**
 * Records `thrown` as the response, an RFC 9457 problem, and replaces any other response. Logs errors
 * with status 500 and above, except those that the client causes: 501, and an abort because it
 * disconnected. The reason of `ctx.signal` at the deadline is a 503, also as the cause of Node's own errors.
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
      `${ctx.method} ${ctx.path} failed with ${status}`,
      isError(error) ? error : notAnError(error),
    );
  }
  if (ctx.raw.res.headersSent) {
    ctx.raw.res.destroy(toError(error));
    return;
  }
  ctx.discardResponse();
  const problem = problemOf(error, ctx.requestId);
  const hasStack = options.includeStack && status >= 500;
  recordProblem(ctx, hasStack ? { ...problem, stack: stackOf(error) } : problem);
  if (!hasOwnStatus(error) || typeof error.headers !== 'object') return;
  for (const [name, value] of Object.entries(error.headers ?? {})) ctx.set(name, value);
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

/** The stacks of `error` and its causes, line by line. */
function stackOf(error: unknown): string[] {
  const lines: string[] = [];
  for (let at = error, depth = 0; at !== undefined && at !== null && depth < 10; depth++) {
    const text = at instanceof Error ? (at.stack ?? String(at)) : describe(at);
    lines.push(
      ...(depth === 0 ? text : `Caused by: ${text}`).split('\n').map((line) => line.trim()),
    );
    at = at instanceof Error ? at.cause : undefined;
  }
  return lines;
}

function describe(thrown: unknown): string {
  try {
    return `Thrown: ${typeof thrown === 'object' ? JSON.stringify(thrown) : String(thrown)}`;
  } catch {
    return 'Thrown: an object that cannot be printed';
  }
}
