import { plantField } from '@fw/service/testing';
import { expect, onTestFinished, test, vi } from 'vitest';

import { REPORT_KINDS } from './report-kinds.ts';
import { CATALOG, get, newApp, USERS } from './testing.ts';

const figures = { users: USERS, catalog: CATALOG };
const planted = plantField({ readFigures: async () => figures });

test.each([
  '/api/v1/reports',
  '/api/v2/reports',
  ...REPORT_KINDS.map(({ id }) => `/api/v2/reports/${id}`),
])('GET %s never sends an undeclared field of the figures', async (path) => {
  const response = await get(newApp(planted), path);

  expect(response.status).toBe(200);
  expect(await response.text()).not.toContain('passwordHash');
});

test('a report without a declared field gets 500; in production it is sent', async () => {
  onTestFinished(() => void vi.unstubAllEnvs());
  const logs: string[] = [];
  const log = (message: string, error?: unknown) => void logs.push(`${message} ${error ?? ''}`);
  const byDomain = [{ domain: {} as string, count: 1 }];
  const app = newApp({
    figures: { users: { ...USERS, byDomain } },
    logger: { info() {}, warn: log, error: log },
  });

  const rejected = await get(app, '/api/v2/reports/users-by-email-domain');
  vi.stubEnv('NODE_ENV', 'production');
  const sent = await get(app, '/api/v2/reports/users-by-email-domain');

  expect([rejected.status, sent.status]).toEqual([500, 200]);
  expect(logs).toHaveLength(2);
  for (const line of logs)
    expect(line).toContain('"/data/rows/0/domain" is an object, expected a string');
});
