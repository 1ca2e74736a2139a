import { stringify } from '@fw/core/extension';

/** One event of a stream. */
export interface ServerSentEvent {
  /** A string is sent unchanged, any other value as JSON. Without data, browsers run no listener. */
  readonly data?: unknown;
  /** The name of the event. Default `message`. */
  readonly event?: string;
  /** The client sends the id of its last event when it reconnects. */
  readonly id?: string;
  /** How long the client waits before it reconnects, in milliseconds. Default: the browser's, about 3 s. */
  readonly retryMs?: number;
}

const LINE_END = /\r\n|\r|\n/;

/**
 * The text of an event (WHATWG HTML §9.2.5).
 *
 * @throws {TypeError} if `event` or `id` has several lines or NUL, `data` has no JSON form, or `retryMs`
 *   is not a whole number
 */
export function formatEvent({ data, event, id, retryMs }: ServerSentEvent): string {
  return `${field('id', id)}${field('event', event)}${retry(retryMs)}${dataLines(data)}\n`;
}

function field(name: string, value: string | undefined): string {
  if (value === undefined) return '';
  if (/[\r\n\0]/.test(value)) {
    throw new TypeError(
      `Cannot send an event with the ${name} ${JSON.stringify(value)}: expected one line without NUL`,
    );
  }
  return `${name}: ${value}\n`;
}

function retry(retryMs: number | undefined): string {
  if (retryMs === undefined) return '';
  if (!Number.isSafeInteger(retryMs) || retryMs < 0) {
    throw new TypeError(
      `Cannot send an event with retryMs "${retryMs}": expected a whole number of milliseconds`,
    );
  }
  return `retry: ${retryMs}\n`;
}

function dataLines(data: unknown): string {
  if (data === undefined) return '';
  const text = typeof data === 'string' ? data : stringify(data);
  if (text === undefined) {
    throw new TypeError(
      `Cannot send an event with data of type ${typeof data}: it has no JSON form`,
    );
  }
  return text
    .split(LINE_END)
    .map((line) => `data: ${line}\n`)
    .join('');
}
