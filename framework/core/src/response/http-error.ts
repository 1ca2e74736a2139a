import { titleOf } from './problem.ts';

export interface HttpErrorOptions extends ErrorOptions {
  /** A stable upper-case word for programs to branch on. Default: made from the status. */
  readonly code?: string;
  /** A URI that explains this kind of problem (RFC 9457 §3.1.1). Default `about:blank`. */
  readonly type?: string;
  /** Headers that belong to the answer, such as `Allow` or `Retry-After`. */
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * An error that becomes an HTTP response with this `status`. The client reads `message` if the
 * status is below 500; of any other error it reads the reason phrase only.
 *
 * @throws {RangeError} if `status` is not an integer from 400 to 599
 */
export class HttpError extends Error {
  readonly status: number;
  readonly code: string | undefined;
  readonly type: string | undefined;
  readonly headers: Readonly<Record<string, string>> | undefined;

  constructor(status: number, message = titleOf(status), options: HttpErrorOptions = {}) {
    if (!Number.isInteger(status) || status < 400 || status > 599) {
      throw new RangeError(`Cannot make an HTTP error of status "${status}": expected 400 to 599`);
    }
    super(message, options);
    this.name = new.target.name;
    this.status = status;
    this.code = options.code;
    this.type = options.type;
    this.headers = options.headers;
  }

  /** Whether `message` may be sent to the client; a 5xx message stays in the log. */
  get expose(): boolean {
    return this.status < 500;
  }
}

/** 400: the request cannot be understood as it is (RFC 9110 §15.5.1). */
export class BadRequestError extends HttpError {
  constructor(message?: string, options?: HttpErrorOptions) {
    super(400, message, options);
  }
}

/** 401: credentials are missing or wrong; the answer names the scheme (RFC 9110 §15.5.2). */
export class UnauthorizedError extends HttpError {
  constructor(message?: string, options: HttpErrorOptions = {}) {
    super(401, message, {
      ...options,
      headers: { 'WWW-Authenticate': 'Bearer', ...options.headers },
    });
  }
}

/** 403: understood, and refused (RFC 9110 §15.5.4). */
export class ForbiddenError extends HttpError {
  constructor(message?: string, options?: HttpErrorOptions) {
    super(403, message, options);
  }
}

/** 404: there is no such thing (RFC 9110 §15.5.5). */
export class NotFoundError extends HttpError {
  constructor(message?: string, options?: HttpErrorOptions) {
    super(404, message, options);
  }
}

/** 405: the target exists and does not take this method; `allow` lists those it takes (RFC 9110 §15.5.6). */
export class MethodNotAllowedError extends HttpError {
  constructor(allow: readonly string[], message?: string, options: HttpErrorOptions = {}) {
    super(405, message, { ...options, headers: { ...options.headers, Allow: allow.join(', ') } });
  }
}

/** 409: at odds with the present state of the target (RFC 9110 §15.5.10). */
export class ConflictError extends HttpError {
  constructor(message?: string, options?: HttpErrorOptions) {
    super(409, message, options);
  }
}

/** 412: a condition such as `If-Match` does not hold (RFC 9110 §15.5.13). */
export class PreconditionFailedError extends HttpError {
  constructor(message?: string, options?: HttpErrorOptions) {
    super(412, message, options);
  }
}

/** 413: the body is larger than the server takes (RFC 9110 §15.5.14). */
export class PayloadTooLargeError extends HttpError {
  constructor(message?: string, options?: HttpErrorOptions) {
    super(413, message, options);
  }
}

/** 415: the body is of a type that the target does not read (RFC 9110 §15.5.16). */
export class UnsupportedMediaTypeError extends HttpError {
  constructor(message?: string, options?: HttpErrorOptions) {
    super(415, message, options);
  }
}

/** 422: well formed, and not to be processed as it is (RFC 9110 §15.5.21). */
export class UnprocessableContentError extends HttpError {
  constructor(message?: string, options?: HttpErrorOptions) {
    super(422, message, options);
  }
}

/** 429: too many requests (RFC 6585 §4). */
export class TooManyRequestsError extends HttpError {
  constructor(message?: string, options?: HttpErrorOptions) {
    super(429, message, options);
  }
}

/** 503: not now; `Retry-After` in the options' headers says when (RFC 9110 §15.6.4). */
export class ServiceUnavailableError extends HttpError {
  constructor(message?: string, options?: HttpErrorOptions) {
    super(503, message, options);
  }
}

/** One thing that is wrong with one part of a request. */
export interface ValidationIssue {
  readonly in: 'body' | 'query' | 'params' | 'headers';
  /** Where in that part, as a JSON Pointer such as `/age` (RFC 6901); empty for the part as a whole. */
  readonly pointer: string;
  readonly detail: string;
}

/** 400: parts of the request do not fit their schemas; the answer lists every issue. */
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
