import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { runToEnd, type ServiceProcess, type Variables } from '@fw/service/testing';
import { startTestService } from '@fw/service/testing/vitest';
import { expect, onTestFinished, test } from 'vitest';

const MAIN = new URL('./main.ts', import.meta.url);

function newDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'users-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return directory;
}

interface UsersProcess extends ServiceProcess {
  readonly usersUrl: string;
  readonly v2Url: string;
}

async function start(variables: Variables = {}): Promise<UsersProcess> {
  const file = join(newDirectory(), 'users.db');
  const service = await startTestService(MAIN, { DATABASE_FILE: file, ...variables });
  return {
    ...service,
    usersUrl: `${service.url}/api/v1/users`,
    v2Url: `${service.url}/api/v2/users`,
  };
}

/** Creates Ada in version 2. */
function postAda(v2Url: string, key: string): Promise<Response> {
  return fetch(v2Url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Idempotency-Key': key },
    body: JSON.stringify({ name: 'Ada', email: 'ada@example.com' }),
  });
}

async function createUser(usersUrl: string, name: string): Promise<string> {
  const response = await fetch(usersUrl, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ name, email: `${name}@example.com` }),
  });
  const { data } = (await response.json()) as { data: { id: string } };
  return data.id;
}

test('the service creates, returns and lists a user, and is ready', async () => {
  const { usersUrl, healthUrl } = await start();

  const id = await createUser(usersUrl, 'ada');

  expect(await (await fetch(`${usersUrl}/${id}`)).json()).toMatchObject({ data: { name: 'ada' } });
  expect(await (await fetch(usersUrl)).json()).toMatchObject({ total: 1 });
  expect((await fetch(`${healthUrl}/readyz`)).status).toBe(200);
  expect((await fetch(`${healthUrl}/livez`)).status).toBe(200);
});

test('two processes serve the same users from one file', async () => {
  const DATABASE_FILE = join(newDirectory(), 'users.db');
  const [one, other] = await Promise.all([start({ DATABASE_FILE }), start({ DATABASE_FILE })]);

  const ids = await Promise.all(
    Array.from({ length: 40 }, (_, at) => createUser((at % 2 ? one : other).usersUrl, `u${at}`)),
  );

  for (const { usersUrl } of [one, other]) {
    expect(await (await fetch(usersUrl)).json()).toMatchObject({ total: 40 });
    expect((await fetch(`${usersUrl}/${ids[0]}`)).status).toBe(200);
  }
});

test('two processes that receive one Idempotency-Key concurrently create one user', async () => {
  const DATABASE_FILE = join(newDirectory(), 'users.db');
  const [one, other] = await Promise.all([start({ DATABASE_FILE }), start({ DATABASE_FILE })]);

  const responses = await Promise.all(
    Array.from({ length: 50 }, (_, at) => postAda((at % 2 ? one : other).v2Url, 'k1')),
  );

  const bodies = await Promise.all(responses.map((response) => response.text()));
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([201]));
  expect(new Set(bodies).size).toBe(1);
  expect(await (await fetch(one.usersUrl)).json()).toMatchObject({ total: 1 });
});

test('an Idempotency-Key returns the first response, also after kill -9', async () => {
  const DATABASE_FILE = join(newDirectory(), 'users.db');
  const first = await start({ DATABASE_FILE });
  const created = await (await postAda(first.v2Url, 'k1')).text();
  first.signal('SIGKILL');
  await first.ended;

  const second = await start({ DATABASE_FILE });
  const again = await postAda(second.v2Url, 'k1');

  expect(again.status).toBe(201);
  expect(await again.text()).toBe(created);
  expect(await (await fetch(second.usersUrl)).json()).toMatchObject({ total: 1 });
});

test('migrate creates the store and exits, also when repeated', async () => {
  const DATABASE_FILE = join(newDirectory(), 'users.db');

  for (const _ of [1, 2]) {
    const ending = await runToEnd(MAIN, { DATABASE_FILE }, ['migrate']);
    expect(ending).toMatchObject({ code: 0, stderr: '' });
  }

  const { usersUrl } = await start({ DATABASE_FILE });
  expect(await (await fetch(usersUrl)).json()).toEqual({ data: [], total: 0 });
});

test('every acknowledged user survives kill -9 during writes', {
  timeout: 60_000,
}, async () => {
  const DATABASE_FILE = join(newDirectory(), 'users.db');
  const acknowledged: string[] = [];

  for (let cycle = 0; cycle < 5; cycle++) {
    const service = await start({ DATABASE_FILE });
    const write = async (writer: number) => {
      for (;;) acknowledged.push(await createUser(service.usersUrl, `w${cycle}-${writer}`));
    };
    const writers = Promise.allSettled(Array.from({ length: 8 }, (_, writer) => write(writer)));
    const target = acknowledged.length + 25;
    while (acknowledged.length < target) await sleep(1);
    service.signal('SIGKILL');
    expect(await service.ended).toMatchObject({ signal: 'SIGKILL' });
    await writers;
  }

  const { usersUrl } = await start({ DATABASE_FILE });
  const { data } = (await (await fetch(usersUrl)).json()) as { data: { id: string }[] };
  const stored = new Set(data.map(({ id }) => id));
  expect(acknowledged.length).toBeGreaterThanOrEqual(125);
  expect(acknowledged.filter((id) => !stored.has(id))).toEqual([]);
});

test('after SIGTERM the service is not ready, sends Connection: close, finishes requests and exits with 0', async () => {
  const service = await start({ DRAIN_DELAY_MS: '400' });
  const { port } = new URL(service.url);
  // A request in flight: the rest of its body follows after the listener is closed.
  const socket = connect(Number(port), '127.0.0.1');
  const body = JSON.stringify({ name: 'Ada', email: 'ada@example.com' });
  socket.write(
    'POST /api/v1/users HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n' +
      `Content-Length: ${body.length}\r\n\r\n${body.slice(0, 10)}`,
  );
  let response = '';
  socket.setEncoding('utf8').on('data', (text: string) => {
    response += text;
  });
  await sleep(50);

  service.signal('SIGTERM');
  await sleep(150);
  const readiness = await fetch(`${service.healthUrl}/readyz`);
  const liveness = await fetch(`${service.healthUrl}/livez`);
  const late = await fetch(service.usersUrl, { headers: { Connection: 'keep-alive' } });
  await sleep(500);
  await expect(fetch(service.usersUrl)).rejects.toThrow();
  socket.write(body.slice(10));
  await once(socket, 'close');

  expect(readiness.status).toBe(503);
  expect(liveness.status).toBe(200);
  expect(late.status).toBe(200);
  expect(late.headers.get('connection')).toBe('close');
  expect(response).toMatch(/^HTTP\/1.1 201 Created\r\n/);
  expect(await service.ended).toMatchObject({ code: 0, stderr: '' });
});

test('SIGINT drains too, and an idle connection does not delay it', async () => {
  const service = await start({ DRAIN_DELAY_MS: '0' });
  await fetch(service.usersUrl); // fetch keeps its connection
  const startedMs = performance.now();

  service.signal('SIGINT');

  expect(await service.ended).toMatchObject({ code: 0 });
  // Node keeps an idle connection for 75 s.
  expect(performance.now() - startedMs).toBeLessThan(30_000);
});

test('a second signal ends the process immediately', async () => {
  const service = await start({ DRAIN_DELAY_MS: '60000', DRAIN_TIMEOUT_MS: '120000' });
  const startedMs = performance.now();

  service.signal('SIGTERM');
  await sleep(100);
  service.signal('SIGTERM');

  expect(await service.ended).toMatchObject({ code: 1 });
  expect(performance.now() - startedMs).toBeLessThan(30_000);
});

test('a request that never ends is closed at the drain deadline', async () => {
  const service = await start({ DRAIN_DELAY_MS: '0', DRAIN_TIMEOUT_MS: '700' });
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
  socket.on('error', () => {});
  socket.write('POST /api/v1/users HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n');
  socket.write('Content-Type: application/json\r\n\r\n{');
  await sleep(50);
  const startedMs = performance.now();

  service.signal('SIGTERM');

  expect(await service.ended).toMatchObject({ code: 1 });
  // The time-out of the body is 20 s.
  expect(performance.now() - startedMs).toBeLessThan(15_000);
  socket.destroy();
});

/** Starts the service with variables that it rejects; resolves with the one line on standard error. */
async function startupError(variables: Variables): Promise<string> {
  const { code, stderr } = await runToEnd(MAIN, {
    PORT: '0',
    HEALTH_PORT: '0',
    ...variables,
  });
  expect(code).toBe(1);
  expect(stderr).toMatch(/^[^\n]+\n$/);
  return stderr.trim();
}

test('a port in use causes one line with the port and exit code 1', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  onTestFinished(() => void taken.close());
  const address = taken.address();
  const port = typeof address === 'object' ? String(address?.port) : '';
  const DATABASE_FILE = join(newDirectory(), 'users.db');

  const line = `Cannot run users: Cannot listen on 127.0.0.1:${port}: the port is in use`;
  expect(await startupError({ DATABASE_FILE, PORT: port })).toBe(line);
  expect(await startupError({ DATABASE_FILE, HEALTH_PORT: port })).toBe(line);
});

test('malformed variables cause one line that names each of them, and exit code 1', async () => {
  const directory = newDirectory();
  const DATABASE_FILE = join(directory, 'users.db');

  expect(await startupError({ DATABASE_FILE, PORT: 'abc', BODY_LIMIT: '1 MiB' })).toBe(
    'Cannot run users: PORT must be an integer from 0 to 65535, got "abc"; ' +
      'BODY_LIMIT must be an integer from 1 to 67108864, got "1 MiB"',
  );
  expect(readdirSync(directory)).toEqual([]);
});

test('a corrupt database file causes one line with its name and exit code 1, and is not changed', async () => {
  const directory = newDirectory();
  const DATABASE_FILE = join(directory, 'users.db');
  const content = 'no longer a database'.repeat(1_000);
  writeFileSync(DATABASE_FILE, content);

  expect(await startupError({ DATABASE_FILE })).toContain(
    `Cannot run users: Cannot open database "${DATABASE_FILE}": file is not a database`,
  );
  expect(readFileSync(DATABASE_FILE, 'utf8')).toBe(content);
  expect(readdirSync(directory)).toEqual(['users.db']);
});
