import type { LogFields, Logger } from './logger.ts';

/** Logs a message with fields, in either order. */
export interface LogMethod {
  (message: string, fields?: object): void;
  (fields: object, message?: string): void;
}

/**
 * The logger of a request. Each line has the fields `requestId`, `route` once a route has matched, `userId` once
 * the user is known, and those of the option `logFields`. They replace other fields with these names.
 */
export interface RequestLogger extends Logger {
  /** `info('sold', { order: 7 })`, or `info({ order: 7 }, 'sold')`. */
  readonly info: LogMethod;
  /** The same as `info`, for a problem that did not fail anything yet. */
  readonly warn: LogMethod;
  /** `error('failed', error, { order: 7 })` or `error('failed', { order: 7 })`; also with the object first. */
  readonly error: LogMethod & ((message: string, error?: unknown, fields?: object) => void);
  /** Adds fields to all later lines of this request; returns this logger. */
  with(fields: object): RequestLogger;
}

/** The request of a logger. */
interface LoggedRequest {
  readonly requestId: string;
  readonly route: { readonly path: string } | undefined;
  readonly state: object;
  /** Those of the option `logFields`. */
  readonly logFields: LogFields | undefined;
}

/** The methods are bound: `promise.catch(ctx.log.error)` works. */
export class RequestLog implements RequestLogger {
  readonly application: Logger;
  /** What `with` has added. */
  added: LogFields = {};
  readonly #request: LoggedRequest;

  constructor(request: LoggedRequest, application: Logger) {
    this.#request = request;
    this.application = application;
  }

  readonly info = (first: unknown, second?: unknown): void => {
    const { message, fields } = readEntry(first, second);
    this.application.info(message, this.#complete(fields));
  };

  readonly warn = (first: unknown, second?: unknown): void => {
    const { message, fields } = readEntry(first, second);
    this.application.warn(message, this.#complete(fields));
  };

  readonly error = (first: unknown, second?: unknown, third?: unknown): void => {
    const { message, error, fields } = readErrorEntry(first, second, third);
    this.application.error(message, error, this.#complete(fields));
  };

  readonly with = (fields: object): this => {
    this.added = { ...this.added, ...copyOf(fields) };
    return this;
  };

  /** Adds the fields of the request, which come first and win. */
  #complete(fields: object = {}): LogFields {
    const own = fieldsOf(this.#request);
    return { ...own, ...this.added, ...copyOf(fields), ...own };
  }
}

function fieldsOf(request: LoggedRequest): LogFields {
  const { requestId, route } = request;
  try {
    const userId = readUserId(request.state);
    return {
      requestId,
      ...(route && { route: route.path }),
      ...(userId !== undefined && { userId }),
      ...request.logFields,
    };
  } catch (error) {
    return { requestId, logFields: `failed: ${error}` };
  }
}

/** The id in `state.user`, else the `userId` of the session. */
export function readUserId(state: {
  readonly user?: { readonly id?: unknown };
  readonly session?: { readonly data?: { readonly userId?: unknown } | undefined };
}): string | undefined {
  const id = state.user?.id ?? state.session?.data?.userId;
  return typeof id === 'string' || typeof id === 'number' ? String(id) : undefined;
}

interface Entry {
  readonly message: string;
  readonly error?: unknown;
  readonly fields?: object | undefined;
}

/** Reads the arguments in the order of this package, or in that of pino. */
function readEntry(first: unknown, second: unknown): Entry {
  const [object, text] = isObject(first) ? [first, second] : [second, first];
  if (isError(object)) return { message: messageOf(text, object), fields: { err: object } };
  return { message: messageOf(text), fields: isObject(object) ? object : undefined };
}

/** The same for an error, which may also be the field `err`, as pino expects it. */
function readErrorEntry(first: unknown, second: unknown, third: unknown): Entry {
  const [object, text] = isObject(first) ? [first, second] : [second, first];
  const fields = isObject(third) ? third : undefined;
  if (isError(object)) return { message: messageOf(text, object), error: object, fields };
  // An object that is not an error has been thrown only if fields follow it.
  if (!isObject(object) || fields) return { message: messageOf(text), error: object, fields };
  const { err, ...others } = copyOf(object);
  if (!isError(err)) return { message: messageOf(text), fields: object };
  return { message: messageOf(text, err), error: err, fields: others };
}

function messageOf(text: unknown, error?: Error): string {
  return text === undefined ? (error?.message ?? '') : String(text);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** Whether `value` is an error, also of another realm. */
function isError(value: unknown): value is Error {
  return value instanceof Error || typeof Object(value).stack === 'string';
}

/** A copy: a getter that throws does not fail the request. */
function copyOf(fields: object): LogFields {
  try {
    return { ...fields };
  } catch (error) {
    return { fields: `[cannot be read: ${error}]` };
  }
}
