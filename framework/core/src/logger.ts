/** Receives the messages of an application, one line per call. `console` is a logger. */
export interface Logger {
  /** Reports normal operation, such as the address of a server. */
  info(message: string): void;
  /** Reports a problem that did not fail anything yet. */
  warn(message: string): void;
  /** `error` is the thrown value: the log, not the response, contains its stack and causes. */
  error(message: string, error?: unknown): void;
}

/** A logger that takes the error first and the message second: pino and its children. */
export interface PinoLogger {
  /** Logs at level info. */
  info(message: string): void;
  /** Logs at level warn. */
  warn(message: string): void;
  /** Logs at level error, with the stack of `error`. */
  error(error: object, message: string): void;
  error(message: string): void;
  /** Only recognises the logger. */
  bindings(): object;
}

/** Writes errors and warnings to standard error, other messages to standard output. */
export const consoleLogger: Logger = {
  info: (message) => console.info(message),
  warn: (message) => console.warn(message),
  error: (message, ...error) => console.error(message, ...error),
};

/** A logger that takes the message first. Recognises pino by its method `bindings`. */
export function messageFirst(logger: Logger | PinoLogger): Logger {
  if (!('bindings' in logger) || typeof logger.bindings !== 'function') return logger as Logger;
  const pino = logger as PinoLogger;
  return {
    info: (message) => pino.info(message),
    warn: (message) => pino.warn(message),
    error: (message, error) => {
      if (error === undefined) pino.error(message);
      else pino.error(error instanceof Error ? error : { err: error }, message);
    },
  };
}

/** Whether checks and warnings for developers are off. */
export function isProduction(): boolean {
  return process.env.NODE_ENV === 'production';
}

/** The subjects of the warnings that each logger got. */
const warned = new WeakMap<Logger, Set<unknown>>();
const MAX_WARNINGS = 1_000;

/** Logs a warning about `subject` unless one was logged before. */
export function warnOnce(log: Logger, subject: unknown, message: string): void {
  const subjects = warned.get(log) ?? new Set();
  if (subjects.has(subject) || subjects.size >= MAX_WARNINGS) return;
  warned.set(log, subjects.add(subject));
  log.warn(message);
}

/** What a warning names of a request, and its logger. */
export interface WarnedRequest {
  readonly method: string;
  readonly path: string;
  readonly route: { readonly path: string } | undefined;
  readonly log: Logger;
}

/** Logs a warning about the route of a request unless one with this problem was logged before. */
export function warnOfRoute(
  { method, route, path, log }: WarnedRequest,
  problem: string,
  remedy: string,
): void {
  const subject = `${route ? `${method} ${route.path}` : ''} ${problem}`;
  warnOnce(log, subject, `${method} ${route?.path ?? path} ${problem}: ${remedy}`);
}
