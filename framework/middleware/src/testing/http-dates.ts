import { expect, test } from 'vitest';

const NOW_MS = Date.parse('2026-11-22T10:00:00Z');

/** Tests a reader of HTTP dates, which returns milliseconds, or NaN for other text. */
export function testHttpDates(read: (text: string, nowMs: number) => number): void {
  test.each([
    ['Sun, 06 Nov 1994 08:49:37 GMT', '1994-11-06T08:49:37Z'],
    ['Sunday, 06-Nov-94 08:49:37 GMT', '1994-11-06T08:49:37Z'],
    ['Sun Nov  6 08:49:37 1994', '1994-11-06T08:49:37Z'],
    ['Sat Nov 21 00:00:00 2026', '2026-11-21T00:00:00Z'],
    ['Thu, 29 Feb 2024 00:00:00 GMT', '2024-02-29T00:00:00Z'],
    ['Sat, 31 Dec 2016 23:59:60 GMT', '2016-12-31T23:59:59Z'],
    ['Mon, 01 Jan 0001 00:00:00 GMT', '0001-01-01T00:00:00Z'],
    // At most 50 years after NOW_MS.
    ['Sunday, 22-Nov-76 10:00:00 GMT', '2076-11-22T10:00:00Z'],
    ['Monday, 22-Nov-76 10:00:01 GMT', '1976-11-22T10:00:01Z'],
    ['Saturday, 01-Jan-00 00:00:00 GMT', '2000-01-01T00:00:00Z'],
  ])('"%s" is %s', (text, expected) => {
    expect(read(text, NOW_MS)).toBe(Date.parse(expected));
  });

  test.each([
    '',
    '2030',
    '30 Feb',
    '2026-11-21T00:00:00Z',
    'Mon, 30 Feb 2026 00:00:00 GMT',
    'Sat, 00 Nov 2026 00:00:00 GMT',
    'Sat, 21 Nov 2026 24:00:00 GMT',
    'Sat, 21 Nov 2026 12:00:60 GMT',
    'Sat, 21 Nov 2026 00:00:00',
    'Sat, 21 Nov 2026 00:00:00 +0000',
    'Sat, 21 Nov 26 00:00:00 GMT',
    'Sat, 21 nov 2026 00:00:00 GMT',
    'Sat, 21 Foo 2026 00:00:00 GMT',
    'Sat, 21-Nov-2026 00:00:00 GMT',
    'Foo, 21 Nov 2026 00:00:00 GMT',
    '21 Nov 2026 00:00:00 GMT',
    'Sat, 21 Nov 2026 00:00:00 GMT, Sat, 21 Nov 2026 00:00:00 GMT',
    'Saturday, 30-Feb-26 00:00:00 GMT',
    'Saturday, 21 Nov 2026 00:00:00 GMT',
    'Sat Nov 21 00:00:00 2026 GMT',
    'Sat Nov 1 00:00:00 2026',
  ])('"%s" is no date', (text) => {
    expect(read(text, NOW_MS)).toBeNaN();
  });
}
