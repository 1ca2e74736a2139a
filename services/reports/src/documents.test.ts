import { join } from 'node:path';

import { request } from '@fw/core/testing';
import { plantField } from '@fw/service/testing';
import { testDocuments, testUndeclaredFields } from '@fw/service/testing/vitest';
import { expect, test } from 'vitest';

import { REPORT_KINDS } from './report-kinds.ts';
import { CATALOG, get, newApp, USERS } from './testing.ts';

testDocuments(join(import.meta.dirname, '../openapi'), ['v1', 'v2'], () => newApp());

test.each(['/openapi.json', '/docs/reports'])('%s is served without a token', async (path) => {
  expect((await request(newApp(), path)).status).toBe(200);
});

testUndeclaredFields(async () => {
  const figures = { users: USERS, catalog: CATALOG };
  const app = newApp(plantField({ readFigures: async () => figures }));
  return (_method, path) => get(app, path);
}, [
  ['GET', '/api/v1/reports'],
  ['GET', '/api/v2/reports'],
  ...REPORT_KINDS.map(({ id }): [string, string] => ['GET', `/api/v2/reports/${id}`]),
]);
