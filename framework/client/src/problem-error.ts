/**
 * Why a call failed. `status`: the response has an error status; `timeout`: the attempt or the deadline
 * ended; `unreachable`: no or an incomplete response; `unreadable`: the body is too long or not JSON;
 * `open`: a circuit breaker rejected the call.
 */
export type CallFailure = 'status' | 'timeout' | 'unreachable' | 'unreadable' | 'open';

/** An invalid part of a request, as a problem response lists it. */
export interface ValidationIssue {
  /** `body`, `query`, `params` or `headers`. */
  readonly in: string;
  /** A JSON Pointer (RFC 6901), such as `/email`. */
  readonly pointer: string;
  readonly detail: string;
}

/** The members of an RFC 9457 problem that the client reads. */
interface Problem {
  readonly type?: string;
  readonly title?: string;
  readonly detail?: string;
  readonly code?: string;
  readonly requestId?: string;
  readonly errors?: readonly ValidationIssue[];
}

export interface ProblemErrorOptions extends ErrorOptions {
  /** The name of the API in the message. */
  readonly api: string;
  readonly reason: CallFailure;
  /** What happened, for the message. */
  readonly text: string;
  readonly requestId: string;
  readonly status?: number;
  readonly problem?: Problem;
  readonly retryAfterSeconds?: number | undefined;
}

/** A call failed: with a problem response (RFC 9457), another error status, or without a usable response. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';
  readonly reason: CallFailure;
  /** The status of the response; undefined if no complete response arrived. */
  readonly status: number | undefined;
  /** The identifier of the problem, such as `NOT_FOUND`. */
  readonly code: string | undefined;
  /** The explanation of the server; log it, but do not send it to your own clients. */
  readonly detail: string | undefined;
  /** The invalid parts of the request; empty if the response lists none. */
  readonly errors: readonly ValidationIssue[];
  /** The id of the request, which the logs of the server contain. */
  readonly requestId: string;
  /** How long the server asks the client to wait (`Retry-After`), in seconds. */
  readonly retryAfterSeconds: number | undefined;

  constructor({ api, reason, text, requestId, problem = {}, ...options }: ProblemErrorOptions) {
    super(`Cannot call ${api}: ${text}`, options);
    this.reason = reason;
    this.status = options.status;
    this.code = problem.code;
    this.detail = problem.detail ?? problem.title;
    this.errors = problem.errors ?? [];
    this.requestId = problem.requestId ?? requestId;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

/** Reads the members of a problem with the expected type; others, and bodies that are not JSON, are ignored. */
export function readProblem(body: unknown): Problem {
  if (typeof body !== 'object' || body === null) return {};
  const members = Object.entries(body).filter(([name, value]) =>
    name === 'errors' ? Array.isArray(value) : typeof value === 'string',
  );
  return Object.fromEntries(members);
}
