import { expect, test } from 'vitest';

import { readTraceparent } from './tracing.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';

test('traceparent is read', () => {
  const text = `00-${TRACE}-${SPAN}-01`;

  expect(readTraceparent(text)).toEqual({ traceId: TRACE, spanId: SPAN, flags: 1 });
});

test('a later version may have more fields', () => {
  expect(readTraceparent(`01-${TRACE}-${SPAN}-03-more`)).toMatchObject({ flags: 3 });
});

// W3C Trace Context §3.2.2
test.each([
  undefined,
  '',
  `00-${TRACE}-${SPAN}`,
  `00-${TRACE}-${SPAN}-01-more`,
  `00-${TRACE}-${SPAN}-01-`,
  `01-${TRACE}-${SPAN}-01more`,
  `ff-${TRACE}-${SPAN}-01`,
  `00-${'0'.repeat(32)}-${SPAN}-01`,
  `00-${TRACE}-${'0'.repeat(16)}-01`,
  `00-${TRACE.toUpperCase()}-${SPAN}-01`,
  `00-${TRACE}-${SPAN}-1`,
  ` 00-${TRACE}-${SPAN}-01`,
  `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`,
])('the invalid traceparent %j is ignored', (text) => {
  expect(readTraceparent(text)).toBeUndefined();
});
