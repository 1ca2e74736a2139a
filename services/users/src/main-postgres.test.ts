import { setTimeout as sleep } from 'node:timers/promises';

import { runToEnd } from '@fw/service/testing';
import {
  startTestPostgres,
  startTestService,
  testMissingCertificate,
} from '@fw/service/testing/vitest';
import { expect, test } from 'vitest';

const MAIN = new URL('./main.ts', import.meta.url);

const server = startTestPostgres();

async function start(DATABASE_URL: string) {
  const service = await startTestService(MAIN, { DATABASE_URL });
  return { ...service, usersUrl: `${service.url}/api/v2/users` };
}

function postAda(usersUrl: string): Promise<Response> {
  return fetch(usersUrl, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Idempotency-Key': 'k1' },
    body: JSON.stringify({ name: 'Ada', email: 'ada@example.com' }),
  });
}

test('replicas that start concurrently on an empty PostgreSQL database serve the same users', async () => {
  const url = await server().createDatabase();
  const replicas = await Promise.all([start(url), start(url), start(url)]);

  const responses = await Promise.all(
    Array.from({ length: 51 }, (_, at) => postAda(replicas[at % 3]!.usersUrl)),
  );

  const bodies = await Promise.all(responses.map((response) => response.text()));
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([201]));
  expect(new Set(bodies).size).toBe(1);
  for (const { usersUrl, healthUrl } of replicas) {
    expect(await (await fetch(usersUrl)).json()).toMatchObject({ data: [{ name: 'Ada' }] });
    expect((await fetch(`${healthUrl}/readyz`)).status).toBe(200);
  }
});

test('a ready service has open connections for the first requests', async () => {
  const { healthUrl } = await start(await server().createDatabase());

  const readiness = await fetch(`${healthUrl}/readyz`);
  const metrics = await (await fetch(`${healthUrl}/metrics`)).text();

  expect(readiness.status).toBe(200);
  expect(metrics).toMatch(/^db_pool_connections\{pool="users",state="idle".*\} 4$/m);
});

test('migrate creates the tables in PostgreSQL and exits with 0', async () => {
  const DATABASE_URL = await server().createDatabase();

  const ending = await runToEnd(MAIN, { DATABASE_URL }, ['migrate']);

  expect(ending).toMatchObject({ code: 0, stderr: '' });
  const { usersUrl } = await start(DATABASE_URL);
  expect(await (await fetch(usersUrl)).json()).toMatchObject({ data: [] });
});

test('migrate without PostgreSQL prints one line without the password and exits with 1', async () => {
  const DATABASE_URL = 'postgres://users:secret-word@127.0.0.1:1/users';

  const { code, stderr } = await runToEnd(MAIN, { DATABASE_URL }, ['migrate']);

  expect(code).toBe(1);
  expect(stderr).toMatch(/^Cannot run users: [^\n]+\n$/);
  expect(stderr).not.toContain('secret-word');
});

test('a service that starts without PostgreSQL sends 503 until PostgreSQL is available', async () => {
  const url = await server().createDatabase();
  await server().kill();
  const { usersUrl, healthUrl, url: serviceUrl } = await start(url);

  const before = await fetch(usersUrl);
  const readiness = await fetch(`${healthUrl}/readyz`);
  const liveness = await fetch(`${healthUrl}/livez`);
  const unknown = await fetch(`${serviceUrl}/api/v2/nothing`);
  await server().restart();
  let after = await postAda(usersUrl);
  for (let tries = 0; after.status === 503 && tries < 100; tries++) {
    await sleep(50);
    after = await postAda(usersUrl);
  }

  expect(before.status).toBe(503);
  expect(before.headers.get('retry-after')).toBe('1');
  expect(before.headers.get('content-type')).toBe('application/problem+json');
  expect(await before.text()).not.toContain('ECONNREFUSED');
  expect(readiness.status).toBe(503);
  expect(liveness.status).toBe(200);
  expect(unknown.status).toBe(404);
  expect(after.status).toBe(201);
  expect((await fetch(`${healthUrl}/readyz`)).status).toBe(200);
});

testMissingCertificate('users', MAIN);
