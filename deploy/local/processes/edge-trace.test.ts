import http from 'node:http';

import { expect, onTestFinished, test } from 'vitest';

import { listenAnywhere } from '../testing/ports.ts';
import { startTrialEdge } from '../testing/trial-edge.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';
const NEW = /^00-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-01$/;

/** Sends a request through an edge; returns the headers that the service received, and the log entry. */
async function send(headers: http.OutgoingHttpHeaders) {
  let received: http.IncomingHttpHeaders = {};
  const service = http.createServer((request, response) => {
    received = request.headers;
    response.end();
  });
  const users = await listenAnywhere(service);
  const edge = await startTrialEdge({ users: [users] });
  onTestFinished(async () => {
    service.close();
    await edge.stop();
  });
  await new Promise((resolve, reject) => {
    const target = `${edge.origin}/api/v2/users`;
    http
      .get(target, { headers, agent: false }, (response) => response.resume().once('end', resolve))
      .once('error', reject);
  });
  const line = () => edge.log().match(/^{.*"\/api\/v2\/users".*}$/m)?.[0];
  await expect.poll(line).toBeDefined();
  return { received, entry: JSON.parse(line() ?? '') };
}

test.each([
  `00-${TRACE}-${PARENT}-01`,
  `00-${TRACE}-${PARENT}-00`,
  `01-${TRACE}-${PARENT}-03-more`,
])('the edge keeps the valid traceparent %s and its tracestate', async (traceparent) => {
  const { received, entry } = await send({ traceparent, tracestate: 'a=1' });

  expect(received).toMatchObject({ traceparent, tracestate: 'a=1' });
  expect(entry).toMatchObject({ traceId: TRACE, traceparent });
});

// W3C Trace Context §3.2.2 and §3.3
test.each([
  undefined,
  'invalid',
  `00-${TRACE}-${PARENT}-01-more`,
  `01-${TRACE}-${PARENT}-01more`,
  `ff-${TRACE}-${PARENT}-01`,
  `00-${'0'.repeat(32)}-${PARENT}-01`,
  `00-${TRACE}-${'0'.repeat(16)}-01`,
  `00-${TRACE.toUpperCase()}-${PARENT}-01`,
])(
  'the edge replaces the traceparent %s by a new sampled one, without tracestate',
  async (traceparent) => {
    const { received, entry } = await send({
      ...(traceparent && { traceparent }),
      tracestate: 'a=1',
    });

    expect(received.traceparent).toMatch(NEW);
    expect(received.tracestate).toBeUndefined();
    const [, traceId, spanId] = NEW.exec(received.traceparent as string) ?? [];
    expect(traceId).not.toBe(TRACE);
    expect(entry).toMatchObject({ traceId, spanId, traceparent: received.traceparent });
  },
);

test('the log entry of a request in a trace of the client has a span id of its own', async () => {
  const { entry } = await send({ traceparent: `00-${TRACE}-${PARENT}-01` });

  expect(entry.spanId).toMatch(/^[\da-f]{16}$/);
  expect(entry.spanId).not.toBe(PARENT);
});
