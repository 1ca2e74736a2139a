import { styleText } from 'node:util';

/** The colours of the states of an answer, and of the levels that are not to be overlooked. */
const COLOURS = {
  2: 'green',
  3: 'green',
  4: 'yellow',
  5: 'red',
  warn: 'yellow',
  error: 'red',
} as const;

/**
 * A line of a log for eyes: `12:01:02 users-1    GET /api/v2/users/:id 200 1.2 ms  ada  <request id>`.
 * A line that is no object of JSON stays as it is.
 */
export function formatLogLine(name: string, text: string): string {
  const entry = readEntry(text);
  if (!entry) return `         ${name.padEnd(NAME_WIDTH)} ${text}`;
  const time = new Date(String(entry.time)).toTimeString().slice(0, 8);
  return `${styleText('dim', time)} ${name.padEnd(NAME_WIDTH)} ${describe(entry)}`;
}

/** As long as the longest name of a process. */
const NAME_WIDTH = 10;

type Entry = Readonly<Record<string, unknown>>;

function readEntry(text: string): Entry | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function describe(entry: Entry): string {
  const { method, route, path, status, durationMs, seconds, userId, requestId } = entry;
  if (typeof status !== 'number') return describeMessage(entry);
  const ms = Number(durationMs ?? Number(seconds) * 1000).toFixed(1);
  const what = `${method} ${route || path || '(no route)'}`;
  const words = [`${what} ${colour(status)} ${ms} ms`, userId, styleText('dim', String(requestId))];
  return words.filter((word) => word !== undefined).join('  ');
}

function describeMessage({ level, message, error }: Entry): string {
  const mark = level === 'warn' || level === 'error' ? `${styleText(COLOURS[level], level)}: ` : '';
  return `${mark}${message}${error === undefined ? '' : `\n${error}`}`;
}

function colour(status: number): string {
  const first = Math.floor(status / 100);
  const known = first === 2 || first === 3 || first === 4 || first === 5;
  return known ? styleText(COLOURS[first], String(status)) : String(status);
}
