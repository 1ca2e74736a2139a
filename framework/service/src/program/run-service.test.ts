import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { openConnection } from '@fw/core/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';

import { startHttpServer } from '../../../middleware/src/testing/http-server.ts';
import { launchService, runToEnd, type Variables } from '../testing/testing.ts';
import { newFolder, startTestService } from '../testing/vitest.ts';

const MAIN = new URL('../fixtures/service/src/main.ts', import.meta.url);

const NO_WAIT = { DRAIN_DELAY_MS: '0', DRAIN_IDLE_MS: '0' };

async function launch(variables: Variables = {}) {
  const service = await launchService(MAIN, { ...NO_WAIT, ...variables });
  onTestFinished(async () => {
    service.signal('SIGKILL');
    await service.ended;
  });
  return service;
}

function start(variables: Variables = {}) {
  return startTestService(MAIN, { ...NO_WAIT, ...variables });
}

const connect = (url: string) => openConnection(Number(new URL(url).port));

/** A connection to `url` that has sent the first bytes of a request whose rest is `rest`. */
async function beginRequest(url: string) {
  const connection = connect(url);
  connection.send(
    'POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 7\r\n\r\n{"a"',
  );
  await sleep(50);
  return { rest: ':1}', connection };
}

const statusOf = async (url: string) => (await fetch(url)).status;

test('a service is live while it starts, and ready once it listens', async () => {
  const service = await launch({ START: 'on-SIGUSR2' });
  const { healthUrl } = await service.live;

  const starting = await Promise.all(
    ['/livez', '/startupz', '/readyz', '/metrics'].map((path) => statusOf(healthUrl + path)),
  );
  service.signal('SIGUSR2');
  const { url } = await service.listening;

  expect(starting).toEqual([200, 503, 503, 200]);
  expect(await statusOf(url)).toBe(200);
  await expect.poll(() => statusOf(`${healthUrl}/startupz`)).toBe(200);
  expect(await statusOf(`${healthUrl}/readyz`)).toBe(200);
});

test('a request that blocks the event loop is logged and counted', async () => {
  const service = await start();
  await sleep(200); // all callbacks are watched soon after the start

  await fetch(`${service.url}/block`, { headers: { 'X-Request-Id': 'slow' } });

  await expect
    .poll(() => service.output())
    .toMatch(/"message":"GET none blocked the event loop for \d+ ms","requestId":"slow"/);
  const metrics = await (await fetch(`${service.healthUrl}/metrics`)).text();
  expect(metrics).toContain('http_event_loop_blocked_total{http_route="none"} 1');
});

test('spans are sent to OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, with the headers in a file', async () => {
  const received = Promise.withResolvers<readonly unknown[]>();
  const collector = await startHttpServer(async (req, res) => {
    const text = Buffer.concat(await req.toArray()).toString();
    received.resolve([req.url, req.headers['api-key'], JSON.parse(text)]);
    res.end('{}');
  });
  const file = join(newFolder(), 'headers');
  writeFileSync(file, 'api-key=top%20secret\n');
  const service = await start({
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/spans`,
    OTEL_EXPORTER_OTLP_HEADERS_FILE: file,
    OTEL_RESOURCE_ATTRIBUTES: 'k8s.pod.name=a-1',
    SERVICE_VERSION: '1.2.0',
  });

  await fetch(service.url);

  const [path, key, body] = await received.promise;
  expect([path, key]).toEqual(['/spans', 'top secret']);
  const attributes = JSON.stringify(body);
  expect(attributes).toContain('{"key":"service.version","value":{"stringValue":"1.2.0"}}');
  expect(attributes).toContain('{"key":"k8s.pod.name","value":{"stringValue":"a-1"}}');
  expect(service.output()).not.toContain('secret');
});

test('a line of a handler has the id of its request, and LOG_REDACT hides a value', async () => {
  const service = await start({ LOG_REDACT: 'password, order.card' });

  await fetch(`${service.url}/sold`, { headers: { 'X-Request-Id': 'r-1' } });

  await expect
    .poll(() => service.output())
    .toMatch(/"message":"sold","requestId":"r-1","order":{"id":7,"card":"\[Redacted\]"}}\n/);
});

describe('SIGTERM', () => {
  test('fails /readyz, serves during the delay, finishes requests in flight, closes and exits 0', async () => {
    const service = await start({ DRAIN_DELAY_MS: '1000' });
    const { rest, connection } = await beginRequest(service.url);

    service.signal('SIGTERM');
    await expect.poll(() => statusOf(`${service.healthUrl}/readyz`)).toBe(503);
    const late = await fetch(service.url, { headers: { Connection: 'keep-alive' } });
    const liveness = await statusOf(`${service.healthUrl}/livez`);
    await expect
      .poll(() => fetch(service.url).catch((error) => error.message))
      .toBe('fetch failed');
    const closedEarly = service.output().includes('Closed');
    const response = await connection.send(rest).readAll();

    expect(late.status).toBe(200);
    expect(late.headers.get('connection')).toBe('close');
    expect(liveness).toBe(200);
    expect(closedEarly).toBe(false);
    expect(response).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    const { code, stdout, stderr } = await service.ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(messagesOf(stdout).slice(-3)).toEqual(['Draining on SIGTERM', 'Closed', 'Drained']);
  });

  test('serves requests on idle connections until the proxy closes them, also without a delay', async () => {
    const service = await start({ DRAIN_IDLE_MS: '5000' });
    const connection = connect(service.url);
    connection.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await connection.read(/\r\n\r\n/);

    service.signal('SIGTERM');
    await sleep(1_500);
    const responses = await connection.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n').readAll();

    expect(responses.match(/HTTP\/1\.1 200 OK\r/g)).toHaveLength(2);
    expect(responses).toMatch(/^Connection: close\r$/im);
    expect(await service.ended).toMatchObject({ code: 0 });
  });

  test('or SIGINT closes the stores before the deadline when a stream never ends, and exits 1', async () => {
    const service = await start({ DRAIN_TIMEOUT_MS: '3000' });
    const connection = connect(service.url);
    connection.send('GET /events HTTP/1.1\r\nHost: a\r\n\r\n');
    await connection.read(/data: first/);

    service.signal('SIGINT');
    const { code, stdout } = await service.ended;

    expect(code).toBe(1);
    expect(messagesOf(stdout).slice(-3)).toEqual([
      expect.stringMatching(/^close\(\) reached its limit of \d+ ms; incomplete responses: 1$/),
      'Closed',
      'Requests were still in flight at the end of draining',
    ]);
    connection.close();
  });

  test('twice ends the process immediately', async () => {
    const service = await start({ DRAIN_DELAY_MS: '50000', DRAIN_TIMEOUT_MS: '60000' });

    service.signal('SIGTERM');
    await expect.poll(() => service.output()).toContain('Draining on SIGTERM');
    service.signal('SIGINT');

    expect(await service.ended).toMatchObject({ code: 1 });
  });

  test('during the start closes the service without listening', async () => {
    const service = await launch({
      START: 'on-SIGUSR2',
      DRAIN_DELAY_MS: '50000',
      DRAIN_TIMEOUT_MS: '60000',
    });
    await service.live;

    service.signal('SIGTERM');
    await expect.poll(() => service.output()).toContain('Draining on SIGTERM');
    service.signal('SIGUSR2');
    const { code, stdout } = await service.ended;

    expect(code).toBe(0);
    expect(messagesOf(stdout).slice(1)).toEqual(['Draining on SIGTERM', 'Closed', 'Drained']);
  });

  test('during an endless start ends the process at the deadline', async () => {
    const service = await launch({ START: 'on-SIGUSR2', DRAIN_TIMEOUT_MS: '200' });
    await service.live;

    service.signal('SIGTERM');

    expect(await service.ended).toMatchObject({ code: 1 });
  });
});

test('in development, SIGTERM ends the process in less than 0.5 s, also with a stream', async () => {
  // The delay of a drain would be a second, and idle connections would have five more.
  const variables = { NODE_ENV: 'development', DRAIN_DELAY_MS: '1000' };
  const service = await startTestService(MAIN, variables);
  const connection = connect(service.url).send('GET /events HTTP/1.1\r\nHost: a\r\n\r\n');
  await connection.read(/data: first/);

  service.signal('SIGTERM');
  const { code, stdout } = await service.ended;

  const timeOf = (message: string) =>
    Date.parse(linesOf(stdout).find((line) => line.message === message)?.time ?? '');
  expect(code).toBe(0);
  expect(messagesOf(stdout).slice(-2)).toEqual(['Closed', 'Drained']);
  expect(timeOf('Drained') - timeOf('Draining on SIGTERM')).toBeLessThan(500);
});

describe('a WebSocket', () => {
  test.each([
    ['ws:', () => ({})],
    ['wss:', () => ({ CERTIFICATE: createCertificate() })],
  ])('of a route is served at %s and closed with 1001 by SIGTERM', async (scheme, variables) => {
    const service = await start(variables());
    const url = `${service.url.replace(/^http/, 'ws')}/polite`;
    const client = new WebSocket(url, { rejectUnauthorized: false });
    const ended = once(client, 'close').then(([code]) => code);
    const [message] = await once(client, 'message');

    service.signal('SIGTERM');

    expect(url.startsWith(scheme)).toBe(true);
    expect(String(message)).toBe('welcome');
    expect(await ended).toBe(1001);
    expect(await service.ended).toMatchObject({ code: 0 });
  });

  test('that accepts no data ends at the deadline of the drain', async () => {
    const service = await start({ DRAIN_TIMEOUT_MS: '2000' });
    const client = new WebSocket(`${service.url.replace('http:', 'ws:')}/flood`);
    await once(client, 'message');
    client.pause();

    service.signal('SIGTERM');
    const { code, durationMs } = await service.ended;

    expect(code).toBe(1);
    expect(durationMs).toBeLessThan(10_000);
    client.terminate();
  });
});

/** The folder of a new key and its certificate. */
function createCertificate(): string {
  const folder = newFolder();
  const files = ['-keyout', join(folder, 'key.pem'), '-out', join(folder, 'cert.pem')];
  const subject = ['-nodes', '-subj', '/CN=localhost', '-days', '2'];
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', ...subject, ...files], {
    stdio: 'pipe',
  });
  return folder;
}

test('a request over its time limit gets 503 with Retry-After', async () => {
  const { url } = await start({ REQUEST_TIMEOUT_MS: '100' });

  for (const path of ['/hang', '/wait']) {
    const response = await fetch(url + path);
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('1');
    expect(await response.json()).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  }
});

test.each([
  ['headers', { HEADERS_TIMEOUT_MS: '100' }, 'GET / HTTP/1.1\r\nHost'],
  [
    'a body',
    { BODY_TIMEOUT_MS: '100' },
    'POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{',
  ],
])('a client that takes too long for %s gets 408', async (_, variables, request) => {
  const { url } = await start(variables);

  const response = await connect(url).send(request).readAll();

  expect(response).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
  expect(response).toContain('"code":"REQUEST_TIMEOUT"');
});

test('after uncaught errors and a SIGTERM, all requests in flight are served, new connections are refused, and the exit code is 1', async () => {
  const service = await start();
  const begun = await Promise.all(Array.from({ length: 100 }, () => beginRequest(service.url)));

  await fetch(`${service.url}/crash`, { headers: { 'X-Request-Id': 'faulty' } });
  await expect.poll(() => fetch(service.url).catch((error) => error.message)).toBe('fetch failed');
  await expect.poll(() => service.output()).toContain('another bug');
  service.signal('SIGTERM');
  const ready = await statusOf(`${service.healthUrl}/readyz`);
  const responses = await Promise.all(
    begun.map(({ connection, rest }) => connection.send(rest).readAll()),
  );
  const { code, stdout, stderr } = await service.ended;

  expect(ready).toBe(503);
  expect(responses.filter((text) => text.startsWith('HTTP/1.1 200 OK\r\n'))).toHaveLength(100);
  expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
  expect(stdout).toMatch(/"level":"error",.*"error":"Error: a bug/);
  expect(stdout).toMatch(/"message":"Exiting after an uncaught error",.*"requestId":"faulty"/);
  const message = 'Exiting after an uncaught error';
  expect(messagesOf(stdout).filter((one) => one !== 'request')).toEqual(
    expect.arrayContaining([message, 'Draining on an uncaught error', message, 'Closed']),
  );
});

test('a request that does not end within five seconds after an uncaught error is interrupted', async () => {
  const service = await start();
  const { connection } = await beginRequest(service.url);

  await fetch(`${service.url}/crash`);
  const { code, stdout } = await service.ended;

  expect(code).toBe(1);
  expect(messagesOf(stdout).at(-1)).toBe('Requests were still in flight at the end of draining');
  connection.close();
});

test('the command line migrates, runs commands with their exit codes, and prints help', async () => {
  const run = (...args: string[]) => runToEnd(MAIN, { DATABASE_FILE: 'a.db' }, args);

  const [migrated, echoed, config, help] = await Promise.all([
    run('migrate'),
    run('echo', 'a', '--b', 'c'),
    run('config'),
    run('--help'),
  ]);

  expect(migrated.code).toBe(0);
  expect(messagesOf(migrated.stdout)).toEqual([
    'Opened a.db',
    'Applied migration 1',
    'Applied migration 2',
  ]);
  expect(echoed.code).toBe(3);
  expect(messagesOf(echoed.stdout)).toEqual(['a --b c']);
  expect(config).toMatchObject({ code: 0, stderr: '' });
  expect(config.stdout).toMatch(/^START +at-once +when it starts$/m);
  expect(help.stdout).toMatch(
    /^ {2}migrate \[--wait SECONDS\] +migrates the store to the newest version/m,
  );
});

test('a command gets an abort signal and chooses its exit code', async () => {
  const command = await launchService(MAIN, {}, ['wait']);
  await expect.poll(() => command.output()).toContain('Waiting');

  command.signal('SIGINT');
  const { code, stdout } = await command.ended;

  expect(code).toBe(130);
  expect(messagesOf(stdout)).toEqual(['Waiting', 'Stopped on SIGINT']);
});

test.each<readonly [string, readonly string[], Variables, number, string]>([
  ['an unknown command', ['sevre'], {}, 2, '"sevre" is not a command; --help lists them'],
  [
    'variables that contradict each other',
    [],
    { PORT: '1', START: 'on-SIGUSR2' },
    1,
    'PORT and START do not fit',
  ],
  [
    'a drain without time',
    [],
    { DRAIN_DELAY_MS: '900', DRAIN_TIMEOUT_MS: '900' },
    1,
    'DRAIN_TIMEOUT_MS must be more than DRAIN_DELAY_MS, got 900',
  ],
])('%s is one line on standard error', async (_, args, variables, code, reason) => {
  const ending = await runToEnd(MAIN, { HEALTH_PORT: '0', ...variables }, args);

  expect(ending).toMatchObject({ code, stdout: '', stderr: `Cannot run fixture: ${reason}\n` });
});

test('a variable that is probably misspelled is a warning', async () => {
  const service = await start({ PROT: '1' });

  expect(messagesOf(service.output())).toContain(
    'PROT is not a variable of this service: did you mean PORT?',
  );
});

test.each(['PORT', 'HEALTH_PORT'])(
  'one line on standard error reports that %s is in use',
  async (name) => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    onTestFinished(() => void taken.close());
    const address = taken.address();
    const port = typeof address === 'object' ? String(address?.port) : '';

    const ending = await runToEnd(MAIN, { PORT: '0', HEALTH_PORT: '0', [name]: port });

    expect(ending).toMatchObject({
      code: 1,
      stderr: `Cannot run fixture: Cannot listen on 127.0.0.1:${port}: the port is in use\n`,
    });
  },
);

function linesOf(stdout: string): { readonly message: string; readonly time: string }[] {
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

function messagesOf(stdout: string): string[] {
  const lines = linesOf(stdout).map(({ message }) => message);
  return lines.filter((message) => message !== 'request' && !/^GET /.test(message));
}
