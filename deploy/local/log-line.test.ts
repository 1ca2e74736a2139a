import { stripVTControlCharacters } from 'node:util';

import { expect, test } from 'vitest';

import { formatLogLine } from './log-line.ts';

const TIME = new Date(2026, 10, 21, 12, 1, 2).toISOString();

test.each([
  [
    'a request to a service',
    {
      level: 'info',
      time: TIME,
      service: 'users',
      method: 'GET',
      route: '/api/v2/users/:id',
      status: 200,
      durationMs: 1.24,
      requestId: 'r-1',
      userId: 'ada',
      message: 'request',
    },
    '12:01:02 users-1    GET /api/v2/users/:id 200 1.2 ms  ada  r-1',
  ],
  [
    'a request at the edge',
    { time: TIME, requestId: 'r-1', method: 'GET', path: '/nowhere', status: 404, seconds: 0.002 },
    '12:01:02 users-1    GET /nowhere 404 2.0 ms  r-1',
  ],
  [
    'a warning',
    { level: 'warn', time: TIME, service: 'users', message: 'Check "store" failed' },
    '12:01:02 users-1    warn: Check "store" failed',
  ],
  [
    'an error with its stack',
    { level: 'error', time: TIME, message: 'Failed', error: 'Error: no\n    at x.ts:1' },
    '12:01:02 users-1    error: Failed\nError: no\n    at x.ts:1',
  ],
])('%s is one line', (_, entry, line) => {
  expect(stripVTControlCharacters(formatLogLine('users-1', JSON.stringify(entry)))).toBe(line);
});

test.each(['nginx: [warn] low on files', '{"half": '])('%s stays unchanged', (text) => {
  expect(formatLogLine('edge', text)).toBe(`         edge       ${text}`);
});
