import type { DestinationStream } from 'pino';
import pretty from 'pino-pretty';

/** Members of a request's line that its message shows. */
const SHOWN = 'service,method,route,status,durationMs,requestId,userId,traceId';

/** Writes log lines for people: `12:01:02 INFO: GET /api/v2/users/:id 200 1.2 ms  ada  <request id>`. */
export function openPrettyOutput(options: pretty.PrettyOptions = {}): DestinationStream {
  return pretty({
    sync: true,
    messageKey: 'message',
    timestampKey: 'time',
    translateTime: 'SYS:HH:MM:ss',
    ignore: SHOWN,
    messageFormat: (line, messageKey) =>
      typeof line.status === 'number' ? describeRequest(line) : String(line[messageKey]),
    customPrettifiers: { error: String, time: String },
    ...options,
  });
}

function describeRequest(line: Readonly<Record<string, unknown>>): string {
  const { method, route, status, durationMs, userId, requestId } = line;
  const ms = Number(durationMs).toFixed(1);
  const words = [`${method} ${route || '(no route)'} ${status} ${ms} ms`, userId, requestId];
  return words.filter((word) => word !== undefined).join('  ');
}
