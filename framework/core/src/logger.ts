import { inspect } from 'node:util';

/** Named values of a log line, such as `{ order: 7 }`. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Receives the messages of an application, one line per call. `console` is a logger. */
export interface Logger {
  /** Reports normal operation, such as the address of a server. */
  info(message: string, fields?: LogFields): void;
  /** Reports a problem that did not fail anything yet. */
  warn(message: string, fields?: LogFields): void;
  /** `error` is the thrown value: the log, not the response, contains its stack and causes. */
  error(message: string, error?: unknown, fields?: LogFields): void;
}

/** A logger that takes fields or the error first and the message second: pino and its children. */
export interface PinoLogger {
  /** Logs at level info. */
  info(fields: object, message: string): void;
  info(message: string): void;
  /** Logs at level warn. */
  warn(fields: object, message: string): void;
  warn(message: string): void;
  /** Logs at level error, with the stack of `error`. */
  error(error: object, message: string): void;
  error(message: string): void;
  /** Returns a logger whose lines have these fields. */
  child(fields: object): PinoLogger;
  /** Only recognises the logger. */
  bindings(): object;
}

/**
 * Writes errors and warnings to standard error, other messages to standard output: `sold { order: 7 }`, on
 * one line except for stacks.
 */
export const consoleLogger: Logger = {
  info: (message, fields) => console.info(withFields(message, fields)),
  warn: (message, fields) => console.warn(withFields(message, fields)),
  error: (message, error, fields) =>
    console.error(withFields(message, fields), ...(error === undefined ? [] : [error])),
};

function withFields(message: string, fields: LogFields | undefined): string {
  if (fields === undefined) return message;
  try {
    return `${message} ${inspect(fields, { breakLength: Number.POSITIVE_INFINITY, compact: true })}`;
  } catch {
    return `${message} [fields that cannot be printed]`;
  }
}

/** A logger that takes the message first. Recognises pino by its method `bindings`. */
export function messageFirst(logger: Logger | PinoLogger): Logger {
  if (logger === console) return consoleLogger; // a line of `console.info(message, fields)` may be split
  if (!('bindings' in logger) || typeof logger.bindings !== 'function') return logger as Logger;
  const pino = logger as PinoLogger;
  return {
    info: (message, fields) => (fields ? pino.info(fields, message) : pino.info(message)),
    warn: (message, fields) => (fields ? pino.warn(fields, message) : pino.warn(message)),
    error: (message, error, fields) => {
      // A child, because pino writes an error with the name in its option `errorKey` only if it is the argument.
      const child = fields ? pino.child(fields) : pino;
      if (error === undefined) child.error(message);
      else child.error(error instanceof Error ? error : { err: error }, message);
    },
  };
}
