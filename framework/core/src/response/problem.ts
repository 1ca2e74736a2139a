import type { Context } from '../context.ts';
import { http } from '../http.ts';
import { show } from '../options.ts';
import type { RequestContext } from '../request-context.ts';

/** The media type of every error response (RFC 9457). */
export const PROBLEM_TYPE = 'application/problem+json';

/**
 * The body of every error response. Code that cannot import this file (the nginx configuration, the
 * OpenAPI schema, the documentation page) is compared with it in `tests/repository/problem-format.test.ts`.
 */
export interface Problem {
  /** `about:blank`, or a URI that explains this kind of problem. */
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  /** A stable upper-case identifier that clients can compare. */
  readonly code: string;
  readonly requestId?: string;
  readonly [extension: string]: unknown;
}

/** An error that determines its response; read by member names, so any class works. */
interface ErrorWithStatus {
  readonly status: number;
  readonly expose: boolean;
  readonly message: string;
  readonly type?: unknown;
  readonly code?: unknown;
  readonly errors?: unknown;
  readonly members?: unknown;
  readonly headers?: unknown;
}

const CODES: Readonly<Record<number, string>> = {
  413: 'PAYLOAD_TOO_LARGE',
  422: 'UNPROCESSABLE_CONTENT',
  429: 'RATE_LIMITED',
  500: 'INTERNAL_ERROR',
};

/** Reason phrases of RFC 9110 that differ from Node's older ones. */
const TITLES: Readonly<Record<number, string>> = {
  413: 'Content Too Large',
  422: 'Unprocessable Content',
};

/** The reason phrase of `status` (RFC 9110 §15). */
export function titleOf(status: number): string {
  return TITLES[status] ?? http.STATUS_CODES[status] ?? 'Unknown';
}

/** The code of an error without one of its own. */
export function codeOf(status: number): string {
  return (
    CODES[status] ??
    titleOf(status)
      .toUpperCase()
      .replace(/[^A-Z]+/g, '_')
  );
}

/**
 * Whether the response to `error` has the status of the error. Requires `expose` too: errors of HTTP
 * clients have the `status` of another server's response, but no `expose`.
 */
function hasOwnStatus(error: unknown): error is ErrorWithStatus {
  if (typeof error !== 'object' || error === null) return false;
  const { status, expose } = error as Partial<ErrorWithStatus>;
  return (
    Number.isInteger(status) && status! >= 400 && status! <= 599 && typeof expose === 'boolean'
  );
}

/** Methods of RFC 9110, RFC 5789 and RFC 10008. */
const KNOWN_METHODS = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'QUERY',
  'TRACE',
  'CONNECT',
]);

/** The status of a request without a matching route: 404, or 501 for an unknown method (RFC 9110 §9.1). */
export function unmatchedStatus(method: string): number {
  return KNOWN_METHODS.has(method) ? 404 : 501;
}

/** The status of the response to `error`: its own, or 500. */
export function statusOf(error: unknown): number {
  return hasOwnStatus(error) ? error.status : 500;
}

/** The response body for `error`. In a 5xx, `detail` is the reason phrase and `type` is `about:blank`. */
export function problemOf(error: unknown, requestId?: string): Problem {
  const status = statusOf(error);
  const title = titleOf(status);
  const shown = hasOwnStatus(error) && status < 500 && error.expose ? error : undefined;
  const code = hasOwnStatus(error) && typeof error.code === 'string' ? error.code : codeOf(status);
  const problem = {
    type: typeof shown?.type === 'string' ? shown.type : 'about:blank',
    title,
    status,
    detail: shown?.message || title,
    code,
    ...(requestId === undefined ? {} : { requestId }),
    ...(shown?.errors === undefined ? {} : { errors: shown.errors }),
  };
  // Members come last, but replace none of the others.
  return shown?.members === undefined
    ? problem
    : { ...problem, ...Object(shown.members), ...problem };
}

/** The response body for a status without an error. */
export function problemOfStatus(status: number, requestId?: string): Problem {
  return problemOf({ status, expose: true, message: titleOf(status) }, requestId);
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

/** Whether the disconnection of the client caused `error`. */
export function isClientAbort({ raw }: Pick<Context, 'raw'>, error: unknown): boolean {
  return raw.res.destroyed && error instanceof Error && error.name === 'AbortError';
}
