import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { runToEnd, startService } from '@fw/service/testing';
import { startPostgres } from '@fw/service/testing/postgres';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';

import { itemOf, newDirectory, toLines } from './testing.ts';

const MAIN = new URL('./main.ts', import.meta.url);

let server: Awaited<ReturnType<typeof startPostgres>>;
beforeAll(async () => {
  server = await startPostgres();
}, 60_000);
afterAll(() => server?.stop());

async function start(DATABASE_URL: string) {
  const service = await startService(MAIN, { DATABASE_URL });
  onTestFinished(async () => {
    service.signal('SIGKILL');
    await service.ended;
  });
  return { ...service, catalogUrl: `${service.url}/api/v1/catalog` };
}

/** Asks until the answer is not 503 any more. */
async function askPatiently(url: string): Promise<Response> {
  let response = await fetch(url);
  for (let tries = 0; response.status === 503 && tries < 200; tries++) {
    await sleep(50);
    response = await fetch(url);
  }
  return response;
}

test('replicas that start at once on one empty database serve the whole catalog, and an import at once', async () => {
  const DATABASE_URL = await server.createDatabase();
  const replicas = await Promise.all([start(DATABASE_URL), start(DATABASE_URL)]);

  for (const { catalogUrl } of replicas) {
    const response = await askPatiently(`${catalogUrl}?page=60`);
    expect(await response.json()).toMatchObject({ total: 1200, totalPages: 60, page: 60 });
  }

  const file = join(newDirectory(), 'items.ndjson');
  writeFileSync(file, toLines([itemOf(1), itemOf(2)]));
  const ending = await runToEnd(MAIN, { DATABASE_URL }, ['import', file]);
  expect(ending).toMatchObject({ code: 0, stdout: expect.stringContaining('Imported 2 items') });
  for (const { catalogUrl } of replicas) {
    expect(await (await fetch(catalogUrl)).json()).toMatchObject({ total: 2 });
  }
  // It is never replaced by what is shipped.
  const { catalogUrl } = await start(DATABASE_URL);
  expect(await (await askPatiently(catalogUrl)).json()).toMatchObject({ total: 2 });
});

test('a service that starts while PostgreSQL is away answers 503, and is filled once it is there', async () => {
  const url = await server.createDatabase();
  await server.kill();
  const { catalogUrl, healthUrl } = await start(url);

  const away = await fetch(catalogUrl);
  const readiness = await fetch(`${healthUrl}/readyz`);
  const liveness = await fetch(`${healthUrl}/livez`);
  await server.restart();
  const back = await askPatiently(catalogUrl);

  expect(away.status).toBe(503);
  expect(away.headers.get('retry-after')).toBe('1');
  expect(away.headers.get('content-type')).toBe('application/problem+json');
  expect(readiness.status).toBe(503);
  expect(liveness.status).toBe(200);
  expect(await back.json()).toMatchObject({ total: 1200 });
  expect((await fetch(`${healthUrl}/readyz`)).status).toBe(200);
});

test('an import into a database that is away says so in a line, and exits with 1', async () => {
  const DATABASE_URL = 'postgres://catalog:secret-word@127.0.0.1:1/catalog';
  const file = join(newDirectory(), 'items.ndjson');
  writeFileSync(file, toLines([itemOf(1)]));

  const { code, stderr } = await runToEnd(MAIN, { DATABASE_URL }, ['import', file]);

  expect(code).toBe(1);
  expect(stderr).toMatch(/^Cannot import "[^\n]+\n$/);
  expect(stderr).not.toContain('secret-word');
});

test('migrate makes the tables and ends', async () => {
  const DATABASE_URL = await server.createDatabase();

  expect(await runToEnd(MAIN, { DATABASE_URL }, ['migrate'])).toMatchObject({
    code: 0,
    stderr: '',
  });
});

test('migrate logs that PostgreSQL is unavailable', async () => {
  const DATABASE_URL = 'postgres://catalog:secret-word@127.0.0.1:1/catalog';

  const { code, stdout, stderr } = await runToEnd(MAIN, { DATABASE_URL }, ['migrate']);

  expect(code).toBe(1);
  expect(stdout).toContain('PostgreSQL');
  expect(stdout + stderr).not.toContain('secret-word');
});

test.each([[[]], [['migrate', '--wait', '60']]])(
  'a missing certificate file is one line and exit code 1 (%j)',
  async (args) => {
    const DATABASE_URL = 'postgres://127.0.0.1/users?sslrootcert=/missing/ca.pem';

    const { code, stdout, stderr } = await runToEnd(MAIN, { DATABASE_URL }, args);

    expect(code).toBe(1);
    expect(stdout).not.toContain('error');
    expect(stderr).toMatch(
      /^Cannot run catalog: Cannot read the file "\/missing\/ca\.pem" that DATABASE_URL names: ENOENT.*\n$/,
    );
  },
);
