import { http } from '../http.ts';

/** An answer by RFC 9457, `application/problem+json`. */
export interface Problem {
  /** `about:blank`, or a URI that explains this kind of problem. */
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  /** A stable upper-case word to branch on. */
  readonly code: string;
  readonly requestId?: string;
  readonly [extension: string]: unknown;
}

/** What an answerable error may carry; read by name, so any class will do. */
interface AnswerableError {
  readonly status: number;
  readonly expose: boolean;
  readonly message: string;
  readonly type?: unknown;
  readonly code?: unknown;
  readonly errors?: unknown;
  readonly headers?: unknown;
}

const CODES: Readonly<Record<number, string>> = {
  413: 'PAYLOAD_TOO_LARGE',
  422: 'UNPROCESSABLE_CONTENT',
  429: 'RATE_LIMITED',
  500: 'INTERNAL_ERROR',
};

/** RFC 9110's reason phrases where Node still has the older ones. */
const TITLES: Readonly<Record<number, string>> = {
  413: 'Content Too Large',
  422: 'Unprocessable Content',
};

/** The reason phrase of `status` (RFC 9110 §15). */
export function titleOf(status: number): string {
  return TITLES[status] ?? http.STATUS_CODES[status] ?? 'Unknown';
}

function codeOf(status: number): string {
  return (
    CODES[status] ??
    titleOf(status)
      .toUpperCase()
      .replace(/[^A-Z]+/g, '_')
  );
}

/**
 * Whether `error` is meant to be answered with its own status. Both `status` and `expose` must be
 * there: an HTTP client's error carries somebody else's status, and no `expose`.
 */
function isAnswerable(error: unknown): error is AnswerableError {
  if (typeof error !== 'object' || error === null) return false;
  const { status, expose } = error as Partial<AnswerableError>;
  return (
    Number.isInteger(status) && status! >= 400 && status! <= 599 && typeof expose === 'boolean'
  );
}

/** The status that `error` is answered with: its own, or 500. */
export function statusOf(error: unknown): number {
  return isAnswerable(error) ? error.status : 500;
}

/** The response headers that `error` asks for, such as `Allow` or `Retry-After`. */
export function headersOf(error: unknown): Readonly<Record<string, string>> {
  return isAnswerable(error) && typeof error.headers === 'object' && error.headers !== null
    ? (error.headers as Record<string, string>)
    : {};
}

/** The problem that the client reads of `error`. Of a 5xx it reads the reason phrase and nothing else. */
export function problemOf(error: unknown, requestId?: string): Problem {
  const status = statusOf(error);
  const title = titleOf(status);
  const shown = isAnswerable(error) && status < 500 && error.expose ? error : undefined;
  const code = isAnswerable(error) && typeof error.code === 'string' ? error.code : codeOf(status);
  return {
    type: typeof shown?.type === 'string' ? shown.type : 'about:blank',
    title,
    status,
    detail: shown?.message || title,
    code,
    ...(requestId === undefined ? {} : { requestId }),
    ...(shown?.errors === undefined ? {} : { errors: shown.errors }),
  };
}

/** The problem of a bare status, where nothing was thrown. */
export function problemOfStatus(status: number, requestId?: string): Problem {
  return problemOf({ status, expose: true, message: titleOf(status) }, requestId);
}

/** The stack of `error` and of its causes, line by line: for a log, or for a developer's screen. */
export function stackOf(error: unknown): string[] {
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
