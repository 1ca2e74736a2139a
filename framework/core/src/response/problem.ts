import { codeOf, titleOf } from './status.ts';

/** The media type of every error response (RFC 9457). */
export const PROBLEM_TYPE = 'application/problem+json';

/**
 * The body of every error response. The nginx configuration and the documentation page, which cannot import
 * this file, repeat its members, titles and codes. The schema in OpenAPI documents repeats its members.
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

/**
 * Whether the response to `error` has the status of the error. Requires `expose` too: errors of HTTP
 * clients have the `status` of another server's response, but no `expose`.
 */
export function hasOwnStatus(error: unknown): error is ErrorWithStatus {
  if (typeof error !== 'object' || error === null) return false;
  const { status, expose } = error as Partial<ErrorWithStatus>;
  return (
    Number.isInteger(status) && status! >= 400 && status! <= 599 && typeof expose === 'boolean'
  );
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
  // The first `problem` puts its members first; the second one keeps extension members from replacing them.
  return shown?.members === undefined
    ? problem
    : { ...problem, ...Object(shown.members), ...problem };
}

/** The response body for a status without an error. */
export function problemOfStatus(status: number, requestId?: string): Problem {
  return problemOf({ status, expose: true, message: titleOf(status) }, requestId);
}
