import { styleText } from 'node:util';

/** Colours by the first digit of a status, and by level. */
const COLOURS = {
  2: 'green',
  3: 'green',
  4: 'yellow',
  5: 'red',
  warn: 'yellow',
  error: 'red',
} as const;

/** The length of the longest process name. */
const NAME_WIDTH = 10;

type Entry = Readonly<Record<string, unknown>>;

/**
 * A log line for a terminal: `12:01:02 users-1    GET /api/v2/users/:id 200 1.2 ms  ada  <request id>`.
 * A line that is not a JSON object stays unchanged.
 */
export function formatLogLine(name: string, text: string): string {
  const entry = readEntry(text);
  if (!entry) return `         ${name.padEnd(NAME_WIDTH)} ${text}`;
  const time = new Date(String(entry.time)).toTimeString().slice(0, 8);
  const line = typeof entry.status === 'number' ? describeRequest(entry) : describeMessage(entry);
  return `${styleText('dim', time)} ${name.padEnd(NAME_WIDTH)} ${line}`;
}

function readEntry(text: string): Entry | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The services log `route` and `durationMs`, the edge `path` and `seconds`. */
function describeRequest(entry: Entry): string {
  const { method, route, path, status, durationMs, seconds, userId, requestId } = entry;
  const ms = Number(durationMs ?? Number(seconds) * 1000).toFixed(1);
  const request = `${method} ${route || path || '(no route)'} ${colour(String(status))} ${ms} ms`;
  const parts = [request, userId, styleText('dim', String(requestId))];
  return parts.filter((part) => part !== undefined).join('  ');
}

function describeMessage({ level, message, error }: Entry): string {
  const prefix =
    level === 'warn' || level === 'error' ? `${styleText(COLOURS[level], level)}: ` : '';
  return `${prefix}${message}${error === undefined ? '' : `\n${error}`}`;
}

function colour(status: string): string {
  const format = COLOURS[status.charAt(0) as '2'];
  return format ? styleText(format, status) : status;
}
