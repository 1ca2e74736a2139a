import { expect, test } from 'vitest';

import { readEdgeSpan } from './edge-span.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = '00f067aa0ba902b7';
const PARENT = 'b7ad6b7169203331';

/** A line of the log of a request in a trace that the edge began. */
function lineOf(changes: object = {}): string {
  return JSON.stringify({
    traceId: TRACE,
    traceparent: `00-${TRACE}-${SPAN}-01`,
    spanId: SPAN,
    method: 'GET',
    path: '/api/v2/users/7',
    status: 200,
    endSeconds: 1_000.25,
    seconds: 0.05,
    upstream: '127.0.0.1:8081',
    ...changes,
  });
}

test('a request in a trace that the edge began is its first span', () => {
  expect(readEdgeSpan(lineOf())).toEqual({
    traceId: TRACE,
    id: SPAN,
    name: 'GET /api/v2/users',
    kind: 'SERVER',
    timestamp: 1_000_200_000,
    duration: 50_000,
    localEndpoint: { serviceName: 'edge' },
    tags: {
      'http.response.status_code': '200',
      'url.path': '/api/v2/users/7',
      upstream: '127.0.0.1:8081',
    },
  });
});

test('a request in a trace of its client is a child of its span, and a 5xx an error', () => {
  const span = readEdgeSpan(lineOf({ traceparent: `00-${TRACE}-${PARENT}-01`, status: 502 }));

  expect(span).toMatchObject({ id: SPAN, parentId: PARENT, tags: { error: '502' } });
});

test.each([
  ['a warning of nginx', '2026/01/01 00:00:00 [warn] 1#0: conflicting server name'],
  ['JSON without a trace', '{"level":"info"}'],
  ['a trace that is not sampled', lineOf({ traceparent: `00-${TRACE}-${PARENT}-00` })],
  ['a response of the edge itself', lineOf({ upstream: '' })],
])('%s has no span', (_, line) => {
  expect(readEdgeSpan(line)).toBeUndefined();
});
