import { expect, test } from 'vitest';

import { readResult } from './wrk.ts';

const BEFORE = 'Running 1s test @ http://127.0.0.1:8081\n  2 requests in 1.00s\n';

function outputWith(failures: object, requests = 30_000): string {
  const none = { connect: 0, read: 0, write: 0, timeout: 0, status: 0 };
  const result = { requests, micros: 1_500_000, failures: { ...none, ...failures } };
  return `${BEFORE}${JSON.stringify(result)}\n`;
}

test('readResult divides the requests by the elapsed time', () => {
  expect(readResult(outputWith({}))).toEqual({ requests: 30_000, requestsPerSecond: 20_000 });
});

test.each(['connect', 'read', 'write', 'timeout', 'status'])(
  'readResult rejects a run with a failure of kind "%s"',
  (kind) => {
    expect(() => readResult(outputWith({ [kind]: 3 }))).toThrow(`${kind} 3`);
  },
);

test('readResult rejects a run without responses', () => {
  expect(() => readResult(outputWith({}, 0))).toThrow('no responses');
});

test('readResult rejects output without a result', () => {
  expect(() => readResult('unable to connect')).toThrow('unable to connect');
});
