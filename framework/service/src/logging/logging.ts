import { isatty } from 'node:tty';
import { inspect } from 'node:util';

import type { Logger } from 'fw';
import { pino } from 'pino';
import type { PrettyOptions } from 'pino-pretty';

import type { RequestResult } from '../metrics/request-metrics.ts';
import { ownFramesFirst } from './stack-frames.ts';

/** From the lowest to the highest. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;

/** The lowest level that is logged. */
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface LoggerOptions {
  /** Default `info`. */
  readonly level?: LogLevel;
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
}

/** A logger that can also write one line per request. */
export interface ServiceLogger extends Logger {
  /** Logs a request; absent if the level omits such lines. */
  readonly request?: ((entry: RequestEntry) => void) | undefined;
}

/**
 * Creates a logger that writes one JSON object per line, so that no input of a client can forge a line.
 * Messages are written immediately, the lines of requests in batches.
 */
export function createLogger(service: string, options: LoggerOptions = {}): ServiceLogger {
  const { level: lowest = 'info', output = openOutput() } = options;
  const isRepeated = createRepetitionTest();
  const isLogged = (level: LogLevel) => LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(lowest);

  function write(line: object): void {
    output.write(`${JSON.stringify(line)}\n`);
  }

  function log(level: LogLevel, message: string, error?: string): void {
    if (!isLogged(level)) return;
    write({ level, time: timeText(), service, error, message });
    output.flush?.(() => {});
  }

  return {
    info: (message) => log('info', message),
    warn: (message) => log('warn', message),
    error(message, error) {
      if (error === undefined) log('error', message);
      else if (typeof error === 'string' || isRepeated(error)) log('error', message, String(error));
      else log('error', message, inspect(error));
    },
    request: isLogged('info')
      ? ({ method, route, status, durationMs, closeCode, requestId, userId, traceId, via }) =>
          write({
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
          })
      : undefined,
  };
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

/** Opens the logger of a process, which writes to standard output. `auto`: pretty if that is a terminal. */
export async function openLogger(
  service: string,
  { level, format }: { readonly level: LogLevel; readonly format: 'auto' | 'json' | 'pretty' },
): Promise<ServiceLogger> {
  if (format === 'json' || (format === 'auto' && !isatty(1))) {
    return createLogger(service, { level });
  }
  return createLogger(service, { level, output: await openPrettyOutput() });
}

/** Members of a request's line that its message shows. */
const SHOWN = 'service,method,route,status,durationMs,closeCode,requestId,userId,traceId,via';

/** Writes log lines for people: `12:01:02 INFO: GET /api/v2/users/:id 200 1.2 ms  ada  <request id>`. */
export async function openPrettyOutput(options: PrettyOptions = {}): Promise<LogOutput> {
  const { default: pretty } = await import('pino-pretty');
  return pretty({
    sync: true,
    messageKey: 'message',
    timestampKey: 'time',
    translateTime: 'SYS:HH:MM:ss',
    ignore: SHOWN,
    messageFormat: (line, messageKey) =>
      typeof line.status === 'number' ? describeRequest(line) : String(line[messageKey]),
    customPrettifiers: { error: (text) => ownFramesFirst(String(text)), time: String },
    ...options,
  });
}

function describeRequest(line: Readonly<Record<string, unknown>>): string {
  const { method, route, status, durationMs, closeCode, via, userId, requestId } = line;
  const ms = Number(durationMs).toFixed(1);
  const closed = closeCode === undefined ? undefined : `closed with ${closeCode}`;
  const words = [
    `${method} ${route || '(no route)'} ${status} ${ms} ms`,
    closed,
    via,
    userId,
    requestId,
  ];
  return words.filter((word) => word !== undefined).join('  ');
}
