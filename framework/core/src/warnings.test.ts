import { expect, test } from 'vitest';

import { createApp } from './application.ts';
import { recordLog, request } from './testing/index.ts';
import { warnOfRoute, warnOnce } from './warnings.ts';

test('a problem is logged once per route, and once for all requests without a route', () => {
  const { logger: log, problems } = recordLog();
  const requests = [
    { method: 'GET', path: '/a/1', route: { method: 'GET', path: '/a/:id' } },
    { method: 'GET', path: '/a/2', route: { method: 'GET', path: '/a/:id' } },
    { method: 'PUT', path: '/a/1', route: { method: 'PUT', path: '/a/:id' } },
    { method: 'GET', path: '/x' },
    { method: 'GET', path: '/y' },
  ];

  for (const each of requests) warnOfRoute({ route: undefined, ...each, log }, 'is odd', 'fix it');

  expect(problems).toEqual([
    'warn: GET /a/:id is odd: fix it',
    'warn: PUT /a/:id is odd: fix it',
    'warn: GET /x is odd: fix it',
  ]);
});

test('a logger gets at most 1,000 different warnings', () => {
  const { logger, problems } = recordLog();

  for (let subject = 0; subject < 1_010; subject++) warnOnce(logger, subject, `${subject}`);

  expect(problems).toHaveLength(1_000);
});

test('a warning about a subject is logged once for all requests, without their fields', async () => {
  const { logger, entries } = recordLog();
  const app = createApp({ logger }).use((ctx) => {
    warnOnce(ctx.log, 'a subject', 'it is odd');
    ctx.send('done');
  });

  await request(app, '/');
  await request(app, '/');

  expect(entries).toEqual([{ level: 'warn', message: 'it is odd' }]);
});
