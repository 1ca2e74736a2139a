import { expect, test } from 'vitest';

import { toZipkin } from './zipkin-span.ts';

const text = (key: string, stringValue: string) => ({ key, value: { stringValue } });

const SPAN = {
  traceId: '0af7651916cd43dd8448eb211c80319c',
  spanId: 'b7ad6b7169203331',
  name: 'INSERT users',
  kind: 3,
  startTimeUnixNano: '1795348588000123456',
  endTimeUnixNano: '1795348588001123456',
  attributes: [text('db.system.name', 'sqlite'), { key: 'count', value: { intValue: 2 } }],
  status: {},
};

/** An export of the service users with one span. */
function exportOf(span: Partial<typeof SPAN & { parentSpanId: string }>) {
  const resource = { attributes: [text('service.name', 'users')] };
  return { resourceSpans: [{ resource, scopeSpans: [{ spans: [{ ...SPAN, ...span }] }] }] };
}

test('a span of a service has the form of Zipkin, with microseconds and text attributes', () => {
  expect(toZipkin(exportOf({ parentSpanId: '00f067aa0ba902b7' }))).toEqual([
    {
      traceId: SPAN.traceId,
      id: SPAN.spanId,
      parentId: '00f067aa0ba902b7',
      name: 'INSERT users',
      kind: 'CLIENT',
      timestamp: 1_795_348_588_000_123,
      duration: 1_000,
      localEndpoint: { serviceName: 'users' },
      remoteEndpoint: { serviceName: 'sqlite' },
      tags: { 'db.system.name': 'sqlite', count: '2' },
    },
  ]);
});

test('a span with an error has the tag of Zipkin, and one of 0 ns the shortest duration', () => {
  const [span] = toZipkin(
    exportOf({ status: { code: 2 }, endTimeUnixNano: SPAN.startTimeUnixNano, attributes: [] }),
  );

  expect(span).toMatchObject({ duration: 1, tags: { error: '' } });
});
