import { plantField } from '@fw/service/testing';
import { expect, test } from 'vitest';

import { REPORT_KINDS } from './report-kinds.ts';
import { get, newApp } from './testing/app.ts';
import { CATALOG, USERS } from './testing/statistics.ts';

const statistics = { users: USERS, catalog: CATALOG };
const planted = plantField({ readStatistics: async () => statistics });

test.each([
  '/api/v1/reports',
  '/api/v2/reports',
  ...REPORT_KINDS.map(({ id }) => `/api/v2/reports/${id}`),
])('GET %s never sends an undeclared field of the statistics', async (path) => {
  const response = await get(newApp(planted), path);

  expect(response.status).toBe(200);
  expect(await response.text()).not.toContain('passwordHash');
});
