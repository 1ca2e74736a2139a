import type { RawResponse } from './attempt.ts';
import type { ClientSettings } from './client-options.ts';
import { readHttpDate } from './http-date.ts';
import type { PreparedRequest } from './request.ts';

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

/** The body of an error response: an RFC 9457 problem, and its extension members. */
export interface Problem {
  readonly type?: string;
  readonly title?: string;
  readonly detail?: string;
  readonly code?: string;
  readonly requestId?: string;
  readonly errors?: readonly ValidationIssue[];
  readonly [extension: string]: unknown;
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
  /** The whole body of the response; `isProblem` of the client types its extension members. */
  readonly problem: Problem;
  /** The id of the request, which the logs of the server contain. */
  readonly requestId: string;
  /** How long the server asks the client to wait (`Retry-After`), in seconds. */
  readonly retryAfterSeconds: number | undefined;

  constructor({ api, reason, text, requestId, problem = {}, ...options }: ProblemErrorOptions) {
    super(`Cannot call ${api}: ${text}`, options);
    this.reason = reason;
    this.status = options.status;
    this.problem = problem;
    this.code = problem.code;
    this.detail = problem.detail ?? problem.title;
    this.errors = problem.errors ?? [];
    this.requestId = problem.requestId ?? requestId;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

/** A request, and the settings of its client. */
export interface Sender {
  readonly request: PreparedRequest;
  readonly settings: ClientSettings;
}

/** `application/json`, or a type that ends in `+json` (RFC 6839 §3.1). */
const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

/** The JSON body of a successful response; undefined if it has none. */
export function readData(response: RawResponse, sender: Sender): unknown {
  const type = response.headers.get('Content-Type');
  const isEmpty = response.text === '' && (type === null || sender.request.method === 'HEAD');
  if (isEmpty) return undefined;
  try {
    return parseJson(response);
  } catch (cause) {
    const text = 'its response is not JSON';
    throw newProblemError(sender, { reason: 'unreadable', text, cause, response });
  }
}

/** The error of a response whose status is no success. */
export function problemOf(response: RawResponse, sender: Sender): ProblemError {
  const problem = readProblem(response);
  const reason = problem.detail === undefined ? '' : `: ${problem.detail}`;
  const text = `it responds with ${response.status}${reason}`;
  return newProblemError(sender, { reason: 'status', text, problem, response });
}

interface Failure extends Pick<ProblemErrorOptions, 'reason' | 'text' | 'problem' | 'cause'> {
  /** Undefined if no complete response arrived. */
  readonly response?: RawResponse;
}

/** The settings of the client whose call failed. */
const clients = new WeakMap<object, ClientSettings>();

/** Whether `error` is an error response with a code, to a call of the client with these settings. */
export function isProblemOf(settings: ClientSettings, error: unknown): error is ProblemError {
  return (
    error instanceof ProblemError && error.code !== undefined && clients.get(error) === settings
  );
}

/** The error of a call. */
export function newProblemError(
  { settings, request }: Sender,
  { response, ...failure }: Failure,
): ProblemError {
  const error = new ProblemError({
    ...failure,
    api: settings.name,
    requestId: request.requestId,
    ...(response && {
      status: response.status,
      retryAfterSeconds: readRetryAfter(response, settings.clock.now()),
    }),
  });
  clients.set(error, settings);
  return error;
}

/** Reads `Retry-After`, seconds or an HTTP date (RFC 9110 §10.2.3), in seconds; an invalid value is ignored. */
function readRetryAfter({ headers }: RawResponse, nowMs: number): number | undefined {
  const text = headers.get('Retry-After') ?? '';
  if (/^\d+$/.test(text)) return Number(text);
  const dateMs = readHttpDate(text, nowMs);
  return Number.isNaN(dateMs) ? undefined : Math.max(0, Math.ceil((dateMs - nowMs) / 1_000));
}

/** @throws {SyntaxError} if the content type or the text is not JSON */
function parseJson({ headers, text }: RawResponse): unknown {
  const type = headers.get('Content-Type') ?? '';
  if (!JSON_TYPE.test(type)) throw new SyntaxError(`Cannot read "${type}" as JSON`);
  return JSON.parse(text);
}

const TEXTS = ['type', 'title', 'detail', 'code', 'requestId'];

/** Reads a problem without the members of an unexpected type; a body that is not JSON is ignored. */
function readProblem(response: RawResponse): Problem {
  try {
    const members = Object.entries(Object(parseJson(response))).filter(([name, value]) =>
      name === 'errors' ? Array.isArray(value) : typeof value === 'string' || !TEXTS.includes(name),
    );
    return Object.fromEntries(members);
  } catch {
    return {};
  }
}
