import { setTimeout as sleep } from 'node:timers/promises';

import { runToEnd, startService } from '@fw/service/testing';
import { startPostgres } from '@fw/service/testing/postgres';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';

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
  return { ...service, usersUrl: `${service.url}/api/v2/users` };
}

function postAda(usersUrl: string): Promise<Response> {
  return fetch(usersUrl, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Idempotency-Key': 'k1' },
    body: JSON.stringify({ name: 'Ada', email: 'ada@example.com' }),
  });
}

test('replicas that start at once on one empty PostgreSQL database serve the same users', async () => {
  const url = await server.createDatabase();
  const replicas = await Promise.all([start(url), start(url), start(url)]);

  const answers = await Promise.all(
    Array.from({ length: 51 }, (_, at) => postAda(replicas[at % 3]!.usersUrl)),
  );

  const bodies = await Promise.all(answers.map((answer) => answer.text()));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
  expect(new Set(bodies).size).toBe(1);
  for (const { usersUrl, healthUrl } of replicas) {
    expect(await (await fetch(usersUrl)).json()).toMatchObject({ data: [{ name: 'Ada' }] });
    expect((await fetch(`${healthUrl}/readyz`)).status).toBe(200);
  }
});

test('migrate makes the tables in PostgreSQL and ends', async () => {
  const DATABASE_URL = await server.createDatabase();

  const ending = await runToEnd(MAIN, { DATABASE_URL }, ['migrate']);

  expect(ending).toMatchObject({ code: 0, stderr: '' });
  const { usersUrl } = await start(DATABASE_URL);
  expect(await (await fetch(usersUrl)).json()).toMatchObject({ data: [] });
});

test('migrate on a PostgreSQL that is away is one line without the password, and exit code 1', async () => {
  const DATABASE_URL = 'postgres://users:secret-word@127.0.0.1:1/users';

  const { code, stderr } = await runToEnd(MAIN, { DATABASE_URL }, ['migrate']);

  expect(code).toBe(1);
  expect(stderr).toMatch(/^Cannot run users: [^\n]+\n$/);
  expect(stderr).not.toContain('secret-word');
});

test('a service that starts while PostgreSQL is away answers 503 until it is there', async () => {
  const url = await server.createDatabase();
  await server.kill();
  const { usersUrl, healthUrl, url: serviceUrl } = await start(url);

  const away = await fetch(usersUrl);
  const readiness = await fetch(`${healthUrl}/readyz`);
  const liveness = await fetch(`${healthUrl}/livez`);
  const unknown = await fetch(`${serviceUrl}/api/v2/nothing`);
  await server.restart();
  let back = await postAda(usersUrl);
  for (let tries = 0; back.status === 503 && tries < 100; tries++) {
    await sleep(50);
    back = await postAda(usersUrl);
  }

  expect(away.status).toBe(503);
  expect(away.headers.get('retry-after')).toBe('1');
  expect(away.headers.get('content-type')).toBe('application/problem+json');
  expect(await away.text()).not.toContain('ECONNREFUSED');
  expect(readiness.status).toBe(503);
  expect(liveness.status).toBe(200);
  expect(unknown.status).toBe(404);
  expect(back.status).toBe(201);
  expect((await fetch(`${healthUrl}/readyz`)).status).toBe(200);
});

test.each([[[]], [['migrate', '--wait', '60']]])(
  'a missing certificate file is one line and exit code 1 (%j)',
  async (args) => {
    const DATABASE_URL = 'postgres://127.0.0.1/users?sslrootcert=/missing/ca.pem';

    const { code, stdout, stderr } = await runToEnd(MAIN, { DATABASE_URL }, args);

    expect(code).toBe(1);
    expect(stdout).not.toContain('error');
    expect(stderr).toMatch(
      /^Cannot run users: Cannot read the file "\/missing\/ca\.pem" that DATABASE_URL names: ENOENT.*\n$/,
    );
  },
);
