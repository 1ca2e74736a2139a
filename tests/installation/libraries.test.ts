import { execFile } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

import { startCollector } from '@fw/service/testing';
import { startTestPostgres } from '@fw/service/testing/vitest';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';

import { type Program, startProgram } from '../../deploy/local/testing/program.ts';
import { install } from './project.ts';

const programs = path.join(import.meta.dirname, 'libraries');
const project = fs.mkdtempSync(path.join(os.tmpdir(), 'fw-libraries-'));
afterAll(() => fs.promises.rm(project, { recursive: true }), 300_000);

beforeAll(async () => {
  const isSource = (file: string) => path.basename(file) !== 'node_modules';
  fs.cpSync(programs, project, { recursive: true, filter: isSource });
  await install(project, ['--no-save', '--ignore-scripts', ...inject('tarballs')]);
}, 300_000);

type Variables = Readonly<Record<string, string>>;

/** Starts a program of the folder `libraries` on a free port; it is killed at the end of the test. */
async function start(
  name: string,
  variables: Variables = {},
  flags: readonly string[] = [],
): Promise<Program & { readonly origin: string }> {
  const program = await startProgram([process.execPath, ...flags, `${name}.ts`], {
    cwd: project,
    env: { PATH: process.env.PATH, PORT: '0', HEALTH_PORT: '0', ...variables },
    ready: /(?<!Health: )Listening on (http:\/\/127\.0\.0\.1:\d+)/,
  });
  onTestFinished(() => program.stop('SIGKILL'));
  return { ...program, origin: program.match[1] ?? '' };
}

function post(url: string, value: object, headers: Variables = {}): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(value),
  });
}

async function statusOf(response: Promise<Response>): Promise<number> {
  return (await response).status;
}

test('TypeScript accepts the programs', async () => {
  const tsc = path.resolve(import.meta.dirname, '../../node_modules/typescript/bin/tsc');

  const compiled = promisify(execFile)(process.execPath, [tsc, '--project', project]);

  await expect(compiled).resolves.toMatchObject({ stdout: '' });
});

describe('with PostgreSQL', () => {
  const postgres = startTestPostgres();

  test('drizzle-orm inserts and reads rows; a taken name gets 409', async () => {
    const { origin } = await start('drizzle', { DATABASE_URL: await postgres().createDatabase() });

    const created = await post(`${origin}/users`, { name: 'Ada' });
    const read = await fetch(`${origin}/users/1`);

    expect(created.status).toBe(201);
    expect(await read.json()).toEqual({ id: 1, name: 'Ada' });
    expect(await statusOf(post(`${origin}/users`, { name: 'Ada' }))).toBe(409);
    expect(await statusOf(fetch(`${origin}/users/7`))).toBe(404);
  });

  test('pg-boss runs the job of a committed transaction, not of one that was rolled back', async () => {
    const database = await postgres().createDatabase();
    const { origin, stop, ended } = await start('pg-boss', { DATABASE_URL: database });
    const put = (name: string) => fetch(`${origin}/users/${name}`, { method: 'PUT' });
    const users = async () => (await fetch(`${origin}/users`)).json();

    expect(await statusOf(put('ada'))).toBe(201);
    await expect.poll(users, { timeout: 20_000 }).toEqual([{ name: 'ada', welcomed: true }]);
    expect(await statusOf(put('ada'))).toBe(500);
    await stop();

    expect(await ended).toEqual([0, null]);
    expect(await countJobs(database)).toBe(1);
  });

  async function countJobs(connectionString: string): Promise<number> {
    const client = new pg.Client({ connectionString });
    await client.connect();
    try {
      const { rows } = await client.query('SELECT count(*)::int AS jobs FROM pgboss.job');
      return rows[0].jobs;
    } finally {
      await client.end();
    }
  }
});

test('Kysely inserts rows with node:sqlite; a taken name gets 409', async () => {
  const { origin } = await start('kysely');

  const created = await post(`${origin}/users`, { name: 'Ada' });

  expect(created.status).toBe(201);
  expect(await created.json()).toEqual({ id: 1, name: 'Ada' });
  expect(await statusOf(post(`${origin}/users`, { name: 'Ada' }))).toBe(409);
});

test('a guard of fw accepts the session of better-auth until the user signs out', async () => {
  const { origin } = await start('better-auth', { BETTER_AUTH_SECRET: 'a'.repeat(32) });
  const ada = { name: 'Ada', email: 'ada@example.org', password: 'correct horse' };
  const me = (cookie: string) => fetch(`${origin}/me`, { headers: { cookie } });

  const signedUp = await post(`${origin}/api/auth/sign-up/email`, ada, { origin });
  const cookie = signedUp.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  const read = await me(cookie);
  const signedOut = await post(`${origin}/api/auth/sign-out`, {}, { cookie, origin });

  expect(await read.json()).toEqual({ name: 'Ada' });
  expect(signedOut.status).toBe(200);
  expect(await statusOf(me(cookie))).toBe(401);
  expect(await statusOf(me(''))).toBe(401);
});

describe('the instrumentations of OpenTelemetry', () => {
  test('send spans of requests and calls, named by the route', async () => {
    const { fetchAll, spans, output } = await startInstrumented('opentelemetry');

    await fetchAll(['/prices/7', '/fails']);
    await expect.poll(() => spans(SERVER).length, { timeout: 20_000 }).toBe(2);

    const [request, failed] = spans(SERVER);
    expect(request).toMatchObject({
      name: 'GET /prices/:id',
      status: { code: 0 },
      attributes: { 'http.route': '/prices/:id', 'http.response.status_code': 200 },
    });
    expect(failed).toMatchObject({ name: 'GET /fails', status: { code: 2 } });
    expect(spans(CLIENT)).toContainEqual(
      expect.objectContaining({ name: 'GET', parentSpanId: request?.spanId }),
    );
    expect(output()).toContain(`traceId: '${request?.traceId}'`);
  });

  test('replace the spans of a service', async () => {
    const { fetchAll, spans, stop } = await startInstrumented('opentelemetry-service');

    await fetchAll(['/prices/7']);
    await expect.poll(() => spans(SERVER).length, { timeout: 20_000 }).toBe(1);
    await stop(); // sends all spans

    expect(spans(SERVER).map(({ name }) => name)).toEqual(['GET']);
  });

  const SERVER = 2;
  const CLIENT = 3;

  async function startInstrumented(name: string) {
    const collector = await startCollector();
    onTestFinished(() => collector.stop());
    const variables = {
      PRICES_URL: `${collector.url}/prices`,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_BSP_SCHEDULE_DELAY: '100',
      OTEL_METRICS_EXPORTER: 'none',
      OTEL_LOGS_EXPORTER: 'none',
      OTEL_NODE_RESOURCE_DETECTORS: 'env',
      DRAIN_DELAY_MS: '0',
      DRAIN_IDLE_MS: '0',
    };
    const register = ['--import', '@opentelemetry/auto-instrumentations-node/register'];
    const { origin, ...program } = await start(name, variables, register);
    return {
      ...program,
      spans: (kind: number) => collector.spans().filter((span) => span.kind === kind),
      async fetchAll(targets: readonly string[]) {
        for (const target of targets) await fetch(origin + target);
      },
    };
  }
});

test('Sentry receives the errors of 5xx responses, and no others', async () => {
  const received: string[] = [];
  const sentry = createServer(async (req, res) => {
    received.push(Buffer.concat(await req.toArray()).toString());
    res.end('{}');
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void sentry.close());
  await once(sentry, 'listening');
  const { port } = sentry.address() as AddressInfo;
  const { origin } = await start('sentry', { SENTRY_DSN: `http://key@127.0.0.1:${port}/1` });

  expect(await statusOf(fetch(`${origin}/users/7`))).toBe(404);
  expect(await statusOf(fetch(`${origin}/orders/9`))).toBe(500);
  await expect.poll(() => received.length, { timeout: 20_000 }).toBe(1);

  const [, , event = ''] = received[0]?.split('\n') ?? [];
  expect(JSON.parse(event)).toMatchObject({
    exception: { values: [{ value: 'the store is unavailable' }] },
    extra: { route: '/orders/:id', requestId: expect.any(String) },
    request: { url: `${origin}/orders/9` },
  });
});

test('helmet sets headers, and express-rate-limit counts the clients behind a proxy', async () => {
  const { origin, output } = await start('express-middleware');
  const from = (client: string) =>
    fetch(`${origin}/limited`, { headers: { 'X-Forwarded-For': client } });

  const served = await from('192.0.2.1');
  await from('192.0.2.1');
  const limited = await from('192.0.2.1');

  expect(served.headers.get('content-security-policy')).toContain("default-src 'self'");
  expect(served.headers.get('ratelimit')).toContain('r=1');
  expect(limited.status).toBe(429);
  expect(limited.headers.get('retry-after')).toBe('60');
  expect(await limited.json()).toMatchObject({ code: 'RATE_LIMITED', detail: 'wait a minute' });
  expect(await statusOf(from('192.0.2.2'))).toBe(200);
  expect(output()).not.toContain('ERR_ERL');
});

test('Swagger UI and Scalar are served next to the page of fw', async () => {
  const { origin } = await start('documentation-pages');
  const read = async (target: string) => (await fetch(origin + target)).text();

  expect(JSON.parse(await read('/openapi.json'))).toMatchObject({ paths: { '/users/{id}': {} } });
  expect(await read('/docs')).toContain('<title>Users</title>');
  expect(await read('/swagger/')).toContain('./swagger-ui-bundle.js');
  expect(await read('/swagger/swagger-initializer.js')).toContain("url: '/openapi.json'");
  expect(await statusOf(fetch(`${origin}/swagger/swagger-ui-bundle.js`))).toBe(200);
  expect(await read('/scalar')).toContain('"url": "/openapi.json"');
});

test('transports of pino write the log of a request to a file and to standard output', async () => {
  const file = path.join(project, 'app.log');
  const { origin, output } = await start('pino-transports', { LOG_FILE: file });

  await fetch(`${origin}/users/7`);
  await fetch(`${origin}/fails`);
  await expect.poll(() => fs.readFileSync(file, 'utf8')).toContain('GET /fails failed with 500');
  await expect.poll(output).toContain('GET /fails failed with 500');

  const log = fs.readFileSync(file, 'utf8');
  expect(log).toMatch(/INFO .*: read\n {4}requestId: "\w+"\n {4}route: "\/users\/:id"/);
  expect(log).toContain('password: "[Redacted]"');
  expect(output()).toContain(
    '"route":"/users/:id","user":"7","password":"[Redacted]","msg":"read"',
  );
});

test('a transport of pino formats the lines of a service', async () => {
  const { origin, output } = await start('pino-service');

  await fetch(`${origin}/users/7`);
  await expect.poll(output).toMatch(/INFO: request\n/);

  expect(output()).toMatch(/INFO: read\n {4}service: "users"\n {4}requestId: "\w+"\n/);
});
