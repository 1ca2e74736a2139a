import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { createServiceClient } from '@fw/service';
import { startService, type Variables } from '@fw/service/testing';
import { expect, onTestFinished, test } from 'vitest';
import { createFiguresReader } from './figures.ts';
import { ReportResponse } from './schemas.ts';
import { get, newApp } from './testing/app.ts';

/** Starts a service of this repository with a database of its own. */
async function start(name: string, variables: Variables = {}): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), `${name}-`));
  const service = await startService(new URL(`../../${name}/src/main.ts`, import.meta.url), {
    DATABASE_FILE: join(folder, `${name}.db`),
    DRAIN_DELAY_MS: '0',
    ...variables,
  });
  onTestFinished(async () => {
    service.signal('SIGKILL');
    await service.ended;
    rmSync(folder, { recursive: true });
  });
  return service.url;
}

test('reports of the running services users and catalog are complete', {
  timeout: 60_000,
}, async () => {
  const [usersUrl, catalogUrl] = await Promise.all([start('users'), start('catalog')]);
  const timeoutMs = 10_000;
  const clients = {
    users: createServiceClient({ name: 'users', baseUrl: usersUrl, timeoutMs }),
    catalog: createServiceClient({ name: 'catalog', baseUrl: catalogUrl, timeoutMs }),
  };
  const app = newApp({ readFigures: createFiguresReader(clients) });
  const posted = await fetch(`${usersUrl}/api/v2/users`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Ada', email: 'ada@example.org' }),
  });
  expect(posted.status).toBe(201);

  const read = async (id: string) =>
    ReportResponse.parse(await (await get(app, `/api/v2/reports/${id}`)).json());
  const overview = await read('overview');
  const byDay = await read('users-by-day');
  const byDomain = await read('users-by-email-domain');
  const prices = await read('prices-by-category');

  expect(overview.meta).toEqual({ partial: false, missing: [] });
  expect(overview.data.rows).toEqual([
    { source: 'users', measure: 'Users', value: 1 },
    { source: 'users', measure: 'New users in 30 days', value: 1 },
    { source: 'catalog', measure: 'Items', value: 1_200 },
    { source: 'catalog', measure: 'Categories', value: 12 },
  ]);
  expect(byDay.data.rows).toHaveLength(30);
  expect(byDomain.data.rows).toEqual([{ domain: 'example.org', users: 1 }]);
  expect(prices.data.rows).toHaveLength(12);
});
