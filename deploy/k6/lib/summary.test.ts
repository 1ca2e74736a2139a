import { expect, test } from 'vitest';

import { readOutcome, renderOutcome, type SummaryData } from './summary.ts';

const KIND = 'POST /api/v2/users';

/** What k6 tells of a run of 2,400 requests of one kind, of which some failed. */
function newData({ failed = 0, p95Ms = 12.34 } = {}): SummaryData {
  const rate = failed / 2_400;
  const none = { ok: failed === 0 };
  const latency = { med: 2.5, 'p(95)': p95Ms, 'p(99)': p95Ms, max: p95Ms };
  return {
    state: { testRunDurationMs: 8_040 },
    metrics: {
      http_reqs: { values: { count: 2_400 } },
      http_req_failed: { values: { rate, passes: failed }, thresholds: { 'rate==0': none } },
      dropped_iterations: { values: { count: 0 }, thresholds: { 'count==0': { ok: true } } },
      [`http_reqs{name:${KIND}}`]: {
        values: { count: 2_400 },
        thresholds: { 'count>0': { ok: true } },
      },
      [`http_req_failed{name:${KIND}}`]: {
        values: { rate, passes: failed },
        thresholds: { 'rate==0': none },
      },
      [`http_req_duration{name:${KIND}}`]: {
        values: latency,
        thresholds: { 'p(95)<300': { ok: p95Ms < 300 } },
      },
    },
  };
}

test('an outcome is met where every objective is', () => {
  expect(readOutcome('smoke', newData())).toMatchObject({
    profile: 'smoke',
    ok: true,
    seconds: 8.04,
    requests: 2_400,
    failed: 0,
    dropped: 0,
    kinds: [{ kind: KIND, requests: 2_400, failed: 0, p50Ms: 2.5, p95Ms: 12.34, p99Ms: 12.34 }],
  });
});

test.each([
  ['a failed request', { failed: 3 }],
  ['a latency', { p95Ms: 300 }],
])('an outcome is missed by %s', (_, input) => {
  expect(readOutcome('smoke', newData(input)).ok).toBe(false);
});

test('the summary has a line for each kind of request and for each objective of all', () => {
  expect(renderOutcome(readOutcome('smoke', newData())).split('\n')).toEqual([
    'smoke: 2,400 requests in 8.0 s (299 a second), 0 failed, 0 iterations dropped',
    '',
    '                      requests    failed       p50       p95       p99',
    '✓ POST /api/v2/users     2,400         0    2.5 ms     12 ms     12 ms',
    '',
    '✓ dropped_iterations count==0: 0',
    '✓ http_req_failed rate==0: 0',
    '',
  ]);
});

test('the summary says below a kind of request what it has missed', () => {
  const text = renderOutcome(readOutcome('smoke', newData({ failed: 3, p95Ms: 412.5 })));

  expect(text).toContain(
    [
      '✗ POST /api/v2/users     2,400         3    2.5 ms    413 ms    413 ms',
      '    http_req_failed rate==0: 0.001',
      '    http_req_duration p(95)<300: 412.5',
      '',
      '✓ dropped_iterations count==0: 0',
      '✗ http_req_failed rate==0: 0.001',
    ].join('\n'),
  );
});

test('a run of which nothing is known is an outcome of nothing', () => {
  const outcome = readOutcome('smoke', { metrics: {}, state: { testRunDurationMs: 0 } });

  expect(outcome).toMatchObject({ requests: 0, failed: 0, dropped: 0, kinds: [] });
  expect(renderOutcome(outcome)).toContain('smoke: 0 requests in 0.0 s');
});
