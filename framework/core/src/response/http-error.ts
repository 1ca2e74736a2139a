import { titleOf } from './status.ts';

export interface HttpErrorOptions extends ErrorOptions {
  /** A stable upper-case identifier that clients can compare. Default: derived from the status. */
  readonly code?: string;
  /** A URI that explains this kind of problem (RFC 9457 §3.1.1). Default `about:blank`. */
  readonly type?: string;
  /** Extension members of the response (RFC 9457 §3.2); a 5xx has none. */
  readonly members?: Readonly<Record<string, unknown>>;
  /** Response headers, such as `Allow` or `Retry-After`. */
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * An error that becomes an HTTP response with this `status`. The response contains `message` if the
 * status is below 500, else only the reason phrase.
 *
 * @throws {RangeError} if `status` is not an integer from 400 to 599
 */
export class HttpError extends Error {
  readonly status: number;
  readonly code: string | undefined;
  readonly type: string | undefined;
  readonly members: Readonly<Record<string, unknown>> | undefined;
  readonly headers: Readonly<Record<string, string>> | undefined;

  constructor(status: number, message = titleOf(status), options: HttpErrorOptions = {}) {
    if (!Number.isInteger(status) || status < 400 || status > 599) {
      throw new RangeError(
        `Cannot create an HTTP error with status "${status}": expected 400 to 599`,
      );
    }
    super(message, options);
    this.name = new.target.name;
    this.status = status;
    this.code = options.code;
    this.type = options.type;
    this.members = options.members;
    this.headers = options.headers;
  }

  /** Whether `message` may be sent to the client; a 5xx message stays in the log. */
  get expose(): boolean {
    return this.status < 500;
  }
}

/** The base class of errors with a fixed status. */
function withStatus(status: number) {
  return class extends HttpError {
    constructor(message?: string, options?: HttpErrorOptions) {
      super(status, message, options);
    }
  };
}

/** 400: the request is malformed (RFC 9110 §15.5.1). */
export class BadRequestError extends withStatus(400) {}

/** 401: credentials are missing or invalid; sends `WWW-Authenticate: Bearer` by default (RFC 9110 §15.5.2). */
export class UnauthorizedError extends HttpError {
  constructor(message?: string, options: HttpErrorOptions = {}) {
    super(401, message, {
      ...options,
      headers: { 'WWW-Authenticate': 'Bearer', ...options.headers },
    });
  }
}

/** 403: the client is not allowed to do this (RFC 9110 §15.5.4). */
export class ForbiddenError extends withStatus(403) {}

/** 404: the resource does not exist (RFC 9110 §15.5.5). */
export class NotFoundError extends withStatus(404) {}

/** 405: the resource does not support this method; `allow` becomes the `Allow` header (RFC 9110 §15.5.6). */
export class MethodNotAllowedError extends HttpError {
  constructor(allow: readonly string[], message?: string, options: HttpErrorOptions = {}) {
    super(405, message, { ...options, headers: { ...options.headers, Allow: allow.join(', ') } });
  }
}

/** 409: the request conflicts with the current state of the resource (RFC 9110 §15.5.10). */
export class ConflictError extends withStatus(409) {}

/** 412: a precondition such as `If-Match` is false (RFC 9110 §15.5.13). */
export class PreconditionFailedError extends withStatus(412) {}

/** 413: the body exceeds the limit (RFC 9110 §15.5.14). */
export class PayloadTooLargeError extends withStatus(413) {}

/** 415: the media type of the body is not supported (RFC 9110 §15.5.16). */
export class UnsupportedMediaTypeError extends withStatus(415) {}

/** 422: the body is well-formed but semantically invalid (RFC 9110 §15.5.21). */
export class UnprocessableContentError extends withStatus(422) {}

/** 429: too many requests (RFC 6585 §4). */
export class TooManyRequestsError extends withStatus(429) {}

/** 503: temporarily unavailable; set `Retry-After` with the option `headers` (RFC 9110 §15.6.4). */
export class ServiceUnavailableError extends withStatus(503) {}

/** Classes whose constructor only needs a message; 401 also needs a scheme, 405 the allowed methods. */
const CLASSES = new Map(
  [
    BadRequestError,
    ForbiddenError,
    NotFoundError,
    ConflictError,
    PreconditionFailedError,
    PayloadTooLargeError,
    UnsupportedMediaTypeError,
    UnprocessableContentError,
    TooManyRequestsError,
    ServiceUnavailableError,
  ].map((Type) => [new Type().status, Type]),
);

/** An error of the class for `status`; an `HttpError` if no class fits. */
export function httpErrorOf(
  status: number,
  message?: string,
  options?: HttpErrorOptions,
): HttpError {
  const Type = CLASSES.get(status);
  return Type ? new Type(message, options) : new HttpError(status, message, options);
}

/** One invalid value in a request. */
export interface ValidationIssue {
  readonly in: 'body' | 'query' | 'params' | 'headers';
  /** Location in that part: a JSON Pointer such as `/age` (RFC 6901), or empty for the whole part. */
  readonly pointer: string;
  readonly detail: string;
}

/** 400, or another `status`: the request does not match its schemas; the response lists every issue. */
export class ValidationError extends HttpError {
  readonly errors: readonly ValidationIssue[];

  constructor(
    errors: readonly ValidationIssue[],
    { status = 400, ...options }: HttpErrorOptions & { readonly status?: number } = {},
  ) {
    const detail = errors.map((issue) => `${issue.in}${issue.pointer}: ${issue.detail}`).join('; ');
    super(status, detail || undefined, { code: 'VALIDATION_FAILED', ...options });
    this.errors = errors;
  }
}
