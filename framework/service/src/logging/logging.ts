import { inspect } from 'node:util';

import type { LogFields, Logger } from 'fw';
import { pino } from 'pino';

import type { RequestResult } from '../metrics/request-metrics.ts';
import { copyLoggable, cut } from './loggable.ts';
import { redactPaths } from './redact.ts';

/** From the lowest to the highest. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;

/** The lowest level that is logged. */
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface LoggerOptions {
  /** Default `info`. */
  readonly level?: LogLevel;
  /** Paths of the values that lines have as `[Redacted]`, as in pino: `user.email`, `items[*].token`. Default none. */
  readonly redact?: readonly string[];
  /** Receives each line. Default: standard output, buffered for up to 100 ms. */
  readonly output?: LogOutput;
}

/** Receives lines; `flush` writes those that it has buffered. */
export interface LogOutput {
  write(line: string): void;
  flush?(done: (error?: Error) => void): void;
}

/** The log entry of one request. Only the request id comes from the client. */
export interface RequestEntry extends RequestResult {
  readonly requestId: string;
  readonly userId: string | undefined;
  readonly traceId: string | undefined;
  /** The close code of a WebSocket, which has a line at its start and one at its end. */
  readonly closeCode?: number;
  /** `mcp` if a tool was called: the request is part of another one with the same id. */
  readonly via: string | undefined;
  /** What `ctx.log.with()` has added. */
  readonly fields?: LogFields | undefined;
}

/** A logger that can also write one line per request. */
export interface ServiceLogger extends Logger {
  /** Logs a request; absent if the level omits such lines. */
  readonly request?: ((entry: RequestEntry) => void) | undefined;
}

/**
 * Creates a logger that writes one JSON object per line, so that no input of a client can forge a line.
 * Messages are written immediately, the lines of requests in batches. Fields follow the members that the logger
 * writes, and cannot replace them; the field `err` is the error of a line that has none.
 *
 * @throws {TypeError} if a path of `redact` is invalid
 */
export function createLogger(service: string, options: LoggerOptions = {}): ServiceLogger {
  const { level: lowest = 'info', redact = [], output = openOutput() } = options;
  const stringify = redactPaths(redact);
  const isRepeated = createRepetitionTest();
  const isLogged = (level: LogLevel) => LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(lowest);

  function write(line: object, fields: LogFields | undefined): void {
    output.write(`${stringify(fields ? withFields(line, copyLoggable(fields)) : line)}\n`);
  }

  function log(level: LogLevel, message: string, { error, fields }: LoggedParts): void {
    if (!isLogged(level)) return;
    const text = error === undefined ? undefined : cut(describe(error));
    write({ level, time: timeText(), service, error: text, message: cut(String(message)) }, fields);
    output.flush?.(() => {});
  }

  function describe(error: unknown): string {
    try {
      return typeof error === 'string' || isRepeated(error) ? String(error) : inspect(error);
    } catch {
      return '[an error that cannot be printed]';
    }
  }

  return {
    info: (message, fields) => log('info', message, { fields }),
    warn: (message, fields) => log('warn', message, { fields }),
    error: (message, error, fields) => log('error', message, { error, fields }),
    request: isLogged('info')
      ? ({
          method,
          route,
          status,
          durationMs,
          closeCode,
          requestId,
          userId,
          traceId,
          via,
          fields,
        }) =>
          write(
            {
              level: 'info',
              time: timeText(),
              service,
              method,
              route,
              status,
              durationMs,
              closeCode,
              requestId,
              userId,
              traceId,
              via,
              message: closeCode === undefined ? 'request' : 'websocket closed',
            },
            fields,
          )
      : undefined,
  };
}

interface LoggedParts {
  readonly error?: unknown;
  readonly fields?: LogFields | undefined;
}

/** Adds the fields whose names the line does not have. */
function withFields(line: object, { err, ...fields }: Record<string, unknown>): object {
  const all: Record<string, unknown> = Object.assign(Object.create(null), line);
  for (const [name, value] of Object.entries({ error: err, ...fields })) all[name] ??= value;
  return all;
}

let lastMs = 0;
let lastText = '';

/** The time in ISO 8601, formatted once per millisecond. */
function timeText(): string {
  const nowMs = Date.now();
  if (nowMs !== lastMs) {
    lastMs = nowMs;
    lastText = new Date(nowMs).toISOString();
  }
  return lastText;
}

/** Lines that cannot be written are kept up to this size; further ones are dropped. */
const MAX_UNWRITTEN_BYTES = 1024 ** 2;

/**
 * Opens standard output, synchronously, so that the last lines before the exit are complete and in order.
 * If it cannot be written, such as a file on a full disk, the process continues and tries again.
 */
function openOutput(): LogOutput {
  const output = pino.destination({
    ...{ dest: 1, sync: true, minLength: 4096, periodicFlush: 100 },
    maxLength: MAX_UNWRITTEN_BYTES,
  });
  output.on('error', () => {});
  process.on('exit', () => output.flush());
  return output;
}

/**
 * Creates a test whether an error with the same cause was logged before. While a database is unavailable,
 * every request fails with one cause; its stack is logged once.
 */
function createRepetitionTest(): (error: unknown) => boolean {
  const causes = new WeakSet<object>();
  return (error) => {
    const cause = error instanceof Error ? error.cause : undefined;
    if (typeof cause !== 'object' || cause === null) return false;
    if (causes.has(cause)) return true;
    causes.add(cause);
    return false;
  };
}
