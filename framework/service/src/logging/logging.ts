import { isatty } from 'node:tty';
import { inspect } from 'node:util';

import type { Logger } from 'fw';
import { pino } from 'pino';

import { jsonTime } from '../lists/json-time.ts';
import { type LogOutput, openLogOutput } from './log-output.ts';

export type LogFormat = 'auto' | 'json' | 'pretty';

/** The least important lines that are written. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

export interface LoggerOptions {
  /** Default `info`. */
  readonly level?: LogLevel;
  /** Takes each line, line break included. Default: standard output, see `openLogOutput`. */
  readonly output?: LogOutput;
  /** In milliseconds since 1970. */
  readonly now?: () => number;
}

/** One request, once it is answered. Nothing here is the client's own words but the request id. */
export interface RequestEntry {
  readonly method: string;
  /** The route's pattern, empty where none matched. */
  readonly route: string;
  readonly status: number;
  readonly durationMs: number;
  readonly requestId: string;
  readonly userId: string | undefined;
  readonly traceId: string | undefined;
}

/** A logger that has a line for each request too. */
export interface ServiceLogger extends Logger {
  readonly request?: ((entry: RequestEntry) => void) | undefined;
}

/**
 * Writes one JSON object a line, so that nothing a client sends can forge another one. What is said
 * is handed on at once; lines of requests are handed on together.
 */
export function createLogger(service: string, options: LoggerOptions = {}): ServiceLogger {
  const { level = 'info', output = openLogOutput(), now = Date.now } = options;
  const timeText = createClock(now);
  const told = new WeakSet<object>();

  /** Of a database that is away, say, every request fails for the same cause: that is told once. */
  function isToldAgain(error: unknown): boolean {
    const cause = error instanceof Error ? error.cause : undefined;
    if (typeof cause !== 'object' || cause === null) return false;
    if (told.has(cause)) return true;
    told.add(cause);
    return false;
  }

  const log = pino(
    {
      level,
      base: { service },
      messageKey: 'message',
      errorKey: 'error',
      serializers: {
        error: (error: unknown) => (typeof error === 'string' ? error : inspect(error)),
      },
      formatters: { level: (label) => ({ level: label }) },
      timestamp: () => `,"time":"${timeText()}"`,
    },
    output,
  );
  return {
    info(message) {
      log.info(message);
      output.flush();
    },
    warn(message) {
      log.warn(message);
      output.flush();
    },
    error(message, error) {
      if (error === undefined) log.error(message);
      else log.error({ error: isToldAgain(error) ? String(error) : error }, message);
      output.flush();
    },
    request: log.isLevelEnabled('info') ? createRequestLine(service, timeText, output) : undefined,
  };
}

/**
 * The same line that pino would write of an entry, in a quarter of the time: which members there are
 * and what they hold is known, so that only the user's id has to be looked at.
 */
function createRequestLine(
  service: string,
  timeText: () => string,
  output: LogOutput,
): (entry: RequestEntry) => void {
  const base = `","service":${JSON.stringify(service)},"method":"`;
  const routes = new Map<string, string>();
  const quoteRoute = (route: string): string => {
    let quoted = routes.get(route);
    if (quoted === undefined) {
      quoted = JSON.stringify(route);
      routes.set(route, quoted);
    }
    return quoted;
  };
  return ({ method, route, status, durationMs, requestId, userId, traceId }) => {
    let line = `{"level":"info","time":"${timeText()}${base}${method}","route":${quoteRoute(route)}`;
    line += `,"status":${status},"durationMs":${Math.round(durationMs * 1000) / 1000}`;
    line += `,"requestId":"${requestId}"`;
    if (userId !== undefined) line += `,"userId":${JSON.stringify(userId)}`;
    if (traceId !== undefined) line += `,"traceId":"${traceId}"`;
    output.write(`${line},"message":"request"}\n`);
  };
}

/** The time in ISO's form; several lines share a millisecond, and its text. */
function createClock(now: () => number): () => string {
  let latestMs = Number.NaN;
  let latest = '';
  return () => {
    const nowMs = now();
    if (nowMs !== latestMs) {
      latestMs = nowMs;
      latest = jsonTime(new Date(nowMs));
    }
    return latest;
  };
}

export interface OpenLoggerOptions {
  readonly level: LogLevel;
  /** JSON, a line each; or for eyes; `auto`: for eyes if standard output is a terminal. */
  readonly format: LogFormat;
}

/** Opens the logger of a process, which writes to standard output. */
export async function openLogger(
  service: string,
  { level, format }: OpenLoggerOptions,
): Promise<ServiceLogger> {
  const output = openLogOutput();
  if (format === 'json' || (format === 'auto' && !isatty(1))) {
    return createLogger(service, { level, output });
  }
  const { openPrettyOutput } = await import('./pretty-log.ts');
  return createLogger(service, { level, output: openPrettyOutput(output) });
}
