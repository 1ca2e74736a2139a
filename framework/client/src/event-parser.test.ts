import { expect, test } from 'vitest';

import { createEventParser } from './event-parser.ts';

interface Parsed {
  /** Each as `event|data|id`. */
  readonly events: readonly string[];
  readonly retryMs: number;
  readonly id: string;
}

/** Parses a stream that arrives in `parts`. */
function parse(parts: readonly (string | Uint8Array)[], { id = '', limit = 1_000 } = {}): Parsed {
  const state = { id, retryMs: 0, empty: 0, isOver: false };
  const push = createEventParser(state, limit);
  const events = parts
    .flatMap((part) => push(typeof part === 'string' ? new TextEncoder().encode(part) : part))
    .map(({ event, data, id }) => `${event}|${data}|${id}`);
  return { events, retryMs: state.retryMs, id: state.id };
}

// The first rows are the examples of the standard.
test.each<readonly [string, ...string[]]>([
  ['data: YHOO\ndata: +2\ndata: 10\n\n', 'message|YHOO\n+2\n10|'],
  [
    ': test\n\ndata: first\nid: 1\n\ndata:second\nid\n\ndata:  third\n\n',
    'message|first|1',
    'message|second|',
    'message| third|',
  ],
  ['data\n\ndata\ndata\n\ndata:', 'message||', 'message|\n|'],
  ['data:test\n\ndata: test\n\n', 'message|test|', 'message|test|'],
  ['event: a\ndata: 1\n\ndata: 2\n\n', 'a|1|', 'message|2|'],
  ['event: a\n\ndata: 1\n\n', 'message|1|'],
  ['event: a\nevent: b\ndata: 1\n\n', 'b|1|'],
  ['event:\ndata: 1\n\n', 'message|1|'],
  ['id: 1\ndata: 1\n\ndata: 2\n\n', 'message|1|1', 'message|2|1'],
  ['id: 1\n\ndata: 2\n\n', 'message|2|1'],
  ['id: 1\ndata: 1\n\nid: 2\0\ndata: 2\n\n', 'message|1|1', 'message|2|1'],
  ['id: é\ndata: ü\n\n', 'message|ü|é'],
  ['data: a:b\n\n', 'message|a:b|'],
  ['DATA: 1\n\n Data: 2\n\nother: 3\n\ndata : 4\n\n'],
  ['data: 1\r\rdata: 2\r\n\r\ndata: 3\n\n', 'message|1|', 'message|2|', 'message|3|'],
  ['data: 1\r\n\rdata: 2\n\r\n', 'message|1|', 'message|2|'],
  ['\uFEFFdata: 1\n\n', 'message|1|'],
  ['\uFEFF\uFEFFdata: 1\n\n'],
  ['\n\n\n:\n:\n\ndata: 1\n\n', 'message|1|'],
  ['data: 1\n'],
  ['data: 1'],
])('%j has these events, in one part and in bytes', (text, ...events) => {
  const bytes = Array.from(new TextEncoder().encode(text), (byte) => Uint8Array.of(byte));

  expect(parse([text]).events).toEqual(events);
  expect(parse(bytes).events).toEqual(events);
});

test.each([
  ['retry: 250\n', 250],
  ['retry:250', 0],
  ['retry: 25a\n', 0],
  ['retry: -1\n', 0],
  ['retry: 1.5\n', 0],
  ['retry:\n', 0],
  ['retry: 1\nretry: 2\n', 2],
])('%j sets the time before a reconnection to %i', (text, retryMs) => {
  expect(parse([text]).retryMs).toBe(retryMs);
});

test.each([
  ['', '7'],
  ['id: 8\ndata: 1', '7'],
  ['id: 8\ndata: 1\n\n', '8'],
  ['id: 8\n\n', '8'],
  ['id\n\n', ''],
])('a new connection after 7 and %j continues after "%s"', (text, id) => {
  expect(parse([text], { id: '7' }).id).toBe(id);
});

test.each([
  ['one line', ['data: 123456', '789012\n\n']],
  ['one line in one part', ['data: 123456789012345\n\n']],
  ['several lines', ['data: 1234\ndata: 5678\n', 'data: 90\n\n']],
  ['a name', ['event: 123456', '7890']],
])('an event whose text in %s exceeds the limit is an error', (_, parts) => {
  expect(() => parse(parts, { limit: 12 })).toThrow(
    new RangeError('its event is longer than 12 bytes'),
  );
});

test('a stream of a million short parts without a line end costs little time', () => {
  const parts = Array.from({ length: 1_000_000 }, () => Uint8Array.of(0x78));

  expect(parse(parts, { limit: 1_000_000 }).events).toEqual([]);
});
