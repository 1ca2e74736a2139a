import { expect, test } from 'vitest';

import { type Exception, judge, type Run, readExceptions, tableOf } from './conformance.ts';
import type { Failure } from './report.ts';

const FAILURE: Failure = {
  operation: 'GET /api/v2/users',
  check: 'positive_data_acceptance',
  message: 'Valid data should have been accepted',
  status: 400,
  detail: 'no such page',
  curl: "curl -i -X GET 'http://127.0.0.1/api/v2/users'",
};

const EXCEPTION: Exception = {
  operation: FAILURE.operation,
  check: FAILURE.check,
  detail: 'no such page',
  reason: 'a reason',
};

function runWith(failures: readonly Failure[], errors: readonly string[] = []): Run {
  const cases = new Map([
    ['/api/v1/users', 3],
    ['/api/v2/users', 4],
    ['/api/v2/users/{id}', 5],
  ]);
  return { service: 'users', way: 'direct', cases, failures, errors };
}

test('cases and failures are counted by version', () => {
  const outcome = judge([runWith([FAILURE, FAILURE])], []);

  expect(outcome).toMatchObject({
    cases: 12,
    rows: [
      { service: 'users', version: 'v1', way: 'direct', cases: 3, failures: 0, excepted: 0 },
      { service: 'users', version: 'v2', way: 'direct', cases: 9, failures: 2, excepted: 0 },
    ],
  });
});

test('failures that differ only in the request are one problem, with the first request', () => {
  const { problems } = judge([runWith([FAILURE, { ...FAILURE, curl: 'curl …' }])], []);

  expect(problems).toEqual([
    [
      `users (direct): GET /api/v2/users fails positive_data_acceptance: 400 no such page, 2 times`,
      FAILURE.message,
      FAILURE.curl,
    ].join('\n'),
  ]);
});

test.each<[string, Partial<Exception>]>([
  ['the same operation', {}],
  ['any operation', { operation: '*' }],
])('an exception for %s accepts a failure', (_, changes) => {
  const outcome = judge([runWith([FAILURE])], [{ ...EXCEPTION, ...changes }]);

  expect(outcome).toMatchObject({ problems: [], unused: [] });
  expect(outcome.rows[1]).toMatchObject({ failures: 0, excepted: 1 });
});

test.each<[string, Partial<Exception>]>([
  ['operation', { operation: 'GET /api/v1/users' }],
  ['check', { check: 'not_a_server_error' }],
  ['response', { detail: 'no such' }],
])('an exception with another %s does not accept a failure and is unused', (_, changes) => {
  const exception = { ...EXCEPTION, ...changes };

  const { problems, unused } = judge([runWith([FAILURE])], [exception]);

  expect(problems).toHaveLength(1);
  expect(unused).toEqual([exception]);
});

test('an error of schemathesis is a problem', () => {
  expect(judge([runWith([], ['the schema cannot be read'])], []).problems).toEqual([
    'users (direct): the schema cannot be read',
  ]);
});

test('the table has a line per version and the total number of cases', () => {
  const table = tableOf(judge([runWith([FAILURE])], []));

  expect(table.split('\n').map((line) => line.split(/\s+/).filter(Boolean))).toEqual([
    ['service', 'version', 'way', 'cases', 'failures', 'exceptions'],
    ['users', 'v1', 'direct', '3', '0', '0'],
    ['users', 'v2', 'direct', '9', '1', '0'],
    ['all', '12'],
  ]);
});

test('every exception has a reason, and covers a single response', () => {
  for (const exception of readExceptions()) {
    expect(exception).toEqual({
      operation: expect.stringMatching(/^(?:\*|[A-Z]+ \/api\/.+)$/),
      check: expect.stringMatching(/^[a-z_]+$/),
      detail: expect.stringMatching(/./),
      reason: expect.stringMatching(/.{20}/),
    });
  }
});
