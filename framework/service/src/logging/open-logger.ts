import { isatty } from 'node:tty';
import { inspect } from 'node:util';

import type { PrettyOptions } from 'pino-pretty';

import { createLogger, type LoggerOptions, type LogOutput, type ServiceLogger } from './logging.ts';
import { ownFramesFirst } from './stack-frames.ts';

interface OpenLoggerOptions extends Pick<LoggerOptions, 'level' | 'redact'> {
  readonly format: 'auto' | 'json' | 'pretty';
}

/** Opens the logger of a process, which writes to standard output. `auto`: pretty if that is a terminal. */
export async function openLogger(
  service: string,
  options: OpenLoggerOptions,
): Promise<ServiceLogger> {
  const { format, ...others } = options;
  if (format === 'json' || (format === 'auto' && !isatty(1))) return createLogger(service, others);
  return createLogger(service, { ...others, output: await openPrettyOutput() });
}

/**
 * Writes log lines for people: `12:01:02 INFO: GET /api/v2/users/:id 200 1.2 ms  ada  <request id>` for a request,
 * `12:01:02 INFO: sold  { order: 7 }  <request id>` for a message.
 */
export async function openPrettyOutput(options: PrettyOptions = {}): Promise<LogOutput> {
  const { default: pretty } = await import('pino-pretty');
  const stream = pretty({
    sync: true,
    messageKey: 'message',
    timestampKey: 'time',
    translateTime: 'SYS:HH:MM:ss',
    customPrettifiers: { time: String },
    ...options,
  });
  return {
    write(text) {
      const line: Line = JSON.parse(text);
      // Only these members: pino-pretty would print a field "name" or "pid" in front of the message.
      const { level, time } = line;
      stream.write(`${JSON.stringify({ level, time, message: present(line) })}\n`);
    },
  };
}

type Line = Readonly<Record<string, unknown>>;

function present({ level, time, service, error, message, ...line }: Line): string {
  const { requestId, ...others } = line;
  const words = isRequest(message, line)
    ? presentRequest(line)
    : [message, presentFields(without(others, ['route', 'userId', 'traceId'])), requestId];
  const text = words.filter((word) => word !== undefined).join('  ');
  if (error === undefined) return text;
  return `${text}\n    error: ${ownFramesFirst(String(error)).replaceAll('\n', '\n    ')}`;
}

function isRequest(message: unknown, { durationMs }: Line): boolean {
  const isNamed = message === 'request' || message === 'websocket closed';
  return isNamed && typeof durationMs === 'number';
}

function presentRequest(line: Line): unknown[] {
  const {
    method,
    route,
    status,
    durationMs,
    closeCode,
    via,
    userId,
    requestId,
    traceId,
    ...fields
  } = line;
  const ms = Number(durationMs).toFixed(1);
  const closed = closeCode === undefined ? undefined : `closed with ${closeCode}`;
  const request = `${method} ${route || '(no route)'} ${status} ${ms} ms`;
  return [request, closed, via, presentFields(fields), userId, requestId];
}

function without(line: Line, names: readonly string[]): Line {
  return Object.fromEntries(Object.entries(line).filter(([name]) => !names.includes(name)));
}

/** Fields on one line; `undefined` if there are none. */
function presentFields(fields: Line): string | undefined {
  if (Object.keys(fields).length === 0) return undefined;
  return inspect(fields, { breakLength: Number.POSITIVE_INFINITY, compact: true, depth: null });
}
