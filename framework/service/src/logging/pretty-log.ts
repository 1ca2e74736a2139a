import { isatty } from 'node:tty';

import { prettyFactory } from 'pino-pretty';

import type { LogOutput } from './log-output.ts';

/** What a line says by its place, and needs no name for. */
const PLACED = 'service,method,route,status,durationMs,requestId,userId,traceId';

export interface PrettyOptions {
  /** Default: whether standard output is a terminal. */
  readonly colorize?: boolean;
}

/**
 * Writes log lines for eyes: `12:01:02 INFO: GET /api/v2/users/:id 200 1.2 ms  ada  <request id>`. Each is
 * handed on at once.
 */
export function openPrettyOutput(
  output: LogOutput,
  { colorize = isatty(1) }: PrettyOptions = {},
): LogOutput {
  const format = prettyFactory({
    colorize,
    messageKey: 'message',
    timestampKey: 'time',
    translateTime: 'SYS:HH:MM:ss',
    ignore: PLACED,
    messageFormat: (line, messageKey) =>
      typeof line.status === 'number' ? describeRequest(line) : String(line[messageKey]),
    customPrettifiers: { error: (value) => String(value), time: (value) => String(value) },
  });
  return {
    write(line) {
      output.write(format(line));
      output.flush();
    },
    flush: () => output.flush(),
  };
}

function describeRequest(line: Readonly<Record<string, unknown>>): string {
  const { method, route, status, durationMs, userId, requestId } = line;
  const ms = Number(durationMs).toFixed(1);
  const words = [`${method} ${route || '(no route)'} ${status} ${ms} ms`, userId, requestId];
  return words.filter((word) => word !== undefined).join('  ');
}
