import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { runToEnd, type Variables } from '@fw/service/testing';
import { newFolder, startTestPostgres, startTestService } from '@fw/service/testing/vitest';
import { expect, test } from 'vitest';

import { itemOf, toLines } from './testing.ts';

const MAIN = new URL('./main.ts', import.meta.url);

const server = startTestPostgres();

async function start(variables: Variables) {
  const service = await startTestService(MAIN, variables);
  return { ...service, catalogUrl: `${service.url}/api/v1/catalog` };
}

/** Repeats the request until the response is not 503. */
async function getPatiently(url: string): Promise<Response> {
  let response = await fetch(url);
  for (let tries = 0; response.status === 503 && tries < 200; tries++) {
    await sleep(50);
    response = await fetch(url);
  }
  return response;
}

test('replicas that start concurrently on an empty database serve the whole catalog, then an import', async () => {
  const DATABASE_URL = await server().createDatabase();
  const replicas = await Promise.all([start({ DATABASE_URL }), start({ DATABASE_URL })]);

  for (const { catalogUrl } of replicas) {
    const response = await getPatiently(`${catalogUrl}?page=60`);
    expect(await response.json()).toMatchObject({ total: 1200, totalPages: 60, page: 60 });
  }

  const file = join(newFolder(), 'items.ndjson');
  writeFileSync(file, toLines([itemOf(1), itemOf(2)]));
  const ending = await runToEnd(MAIN, { DATABASE_URL }, ['import', file]);
  expect(ending).toMatchObject({ code: 0, stdout: expect.stringContaining('Imported 2 items') });
  for (const { catalogUrl } of replicas) {
    expect(await (await fetch(catalogUrl)).json()).toMatchObject({ total: 2 });
  }
  // After an import, no start of a service imports the items of `data` again.
  const { catalogUrl } = await start({ DATABASE_URL });
  expect(await (await getPatiently(catalogUrl)).json()).toMatchObject({ total: 2 });
});

test('a service that starts without PostgreSQL sends 503, and fills the catalog once PostgreSQL is available', async () => {
  const url = await server().createDatabase();
  await server().kill();
  const { catalogUrl, healthUrl } = await start({ DATABASE_URL: url });

  const before = await fetch(catalogUrl);
  const readiness = await fetch(`${healthUrl}/readyz`);
  const liveness = await fetch(`${healthUrl}/livez`);
  await server().restart();
  const after = await getPatiently(catalogUrl);

  expect(before.status).toBe(503);
  expect(before.headers.get('retry-after')).toBe('1');
  expect(before.headers.get('content-type')).toBe('application/problem+json');
  expect(readiness.status).toBe(503);
  expect(liveness.status).toBe(200);
  expect(await after.json()).toMatchObject({ total: 1200 });
  expect((await fetch(`${healthUrl}/readyz`)).status).toBe(200);
});

test('an import into an unavailable database prints one line and exits with 1', async () => {
  const DATABASE_URL = 'postgres://catalog:secret-word@127.0.0.1:1/catalog';
  const file = join(newFolder(), 'items.ndjson');
  writeFileSync(file, toLines([itemOf(1)]));

  const { code, stderr } = await runToEnd(MAIN, { DATABASE_URL }, ['import', file]);

  expect(code).toBe(1);
  expect(stderr).toMatch(/^Cannot import "[^\n]+\n$/);
  expect(stderr).not.toContain('secret-word');
});

test('two processes that start concurrently on a new file serve the complete catalog', async () => {
  const DATABASE_FILE = join(newFolder(), 'catalog.db');

  const services = await Promise.all([start({ DATABASE_FILE }), start({ DATABASE_FILE })]);

  for (const { catalogUrl, healthUrl } of services) {
    const response = await fetch(`${catalogUrl}?page=60`);
    expect(await response.json()).toMatchObject({ total: 1200, totalPages: 60, page: 60 });
    expect((await fetch(`${healthUrl}/readyz`)).status).toBe(200);
  }
});

test('a service whose DATA_FILE cannot be read reports that in one line', async () => {
  const DATABASE_FILE = join(newFolder(), 'catalog.db');
  const variables = { DATABASE_FILE, DATA_FILE: '/nowhere', PORT: '0', HEALTH_PORT: '0' };

  const ending = await runToEnd(MAIN, variables);

  expect(ending.code).toBe(1);
  expect(ending.stderr).toMatch(
    /^Cannot run catalog: Cannot read items from "\/nowhere": ENOENT: no such file[^\n]*\n$/,
  );
});
