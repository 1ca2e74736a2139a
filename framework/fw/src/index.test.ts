import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

import { openConnection } from '@fw/core/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const run = promisify(execFile);
const fw = new URL('./index.ts', import.meta.url).href;
const bodyParser = new URL('../../body-parser/src/index.ts', import.meta.url).href;

test('an import of fw does not load the HTTP client of Node', async () => {
  const program = `
    const { createApp, listen } = await import(${JSON.stringify(fw)});
    const server = await listen(createApp({ logger: { info() {}, warn() {}, error() {} } }), 0);
    await server.close();
    console.log(JSON.stringify(process.moduleLoadList));`;

  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program]);

  const loaded: string[] = JSON.parse(stdout);
  expect(loaded).toContain('NativeModule _http_server');
  expect(loaded.filter((name) => name.includes('undici'))).toEqual([]);
});

/** A typical application. */
const program = `
  import { createApp, createRouter, errorHandler, listen, notFoundHandler } from ${JSON.stringify(fw)};
  import { json } from ${JSON.stringify(bodyParser)};
  const router = createRouter()
    .get('/users/:id', (ctx) => ctx.json({ id: ctx.params.id, query: ctx.query }))
    .get('/files/*', async (ctx) => ctx.send(ctx.params['*']))
    .post('/users', (ctx) => ctx.json({ body: ctx.body ?? null, ip: ctx.ip, host: ctx.host }))
    .get('/fails', async () => { throw undefined; });
  const app = createApp({ trustProxy: 1, logger: { info: console.log, warn() {}, error() {} } })
    .use(errorHandler()).use(json({ inflate: true })).route('/', router)
    .use(router.allowedMethods()).use(notFoundHandler());
  const server = await listen(app, { port: 0, headersTimeoutMs: 2000 });
  process.on('SIGTERM', () => server.close().then(() => process.exit(0)));`;

describe('no request can crash the process', () => {
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  let port = 0;

  beforeAll(async () => {
    child.stderr.setEncoding('utf8').on('data', (text) => {
      log += text;
    });
    const [line] = await once(child.stdout, 'data');
    port = Number(/:(\d+)\s*$/.exec(String(line))?.[1]);
  });

  afterAll(async () => {
    child.kill('SIGTERM');
    const [code] = await once(child, 'exit');
    expect(code).toBe(0); // it still stops on SIGTERM
  });

  /** Sends `bytes`, waits briefly for a response, and disconnects. */
  async function attack(bytes: string | Uint8Array, leaveAfterMs = 20): Promise<void> {
    const connection = openConnection(port).send(bytes);
    await Promise.race([connection.readAll(), sleep(leaveAfterMs)]);
    connection.close();
  }

  async function expectAlive(): Promise<void> {
    const response = await fetch(`http://127.0.0.1:${port}/users/42?a=b`);
    expect(await response.json()).toEqual({ id: '42', query: { a: 'b' } });
    expect(child.exitCode).toBeNull();
    expect(log).toBe('');
  }

  const post = (headers: string, body: string) =>
    `POST /users HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n${headers}\r\n\r\n${body}`;

  test('clients that disconnect at any moment', async () => {
    await Promise.all(
      Array.from({ length: 60 }, (_, index) =>
        attack(post('Content-Length: 9', '{"a":').slice(0, 2 * index), index % 7),
      ),
    );

    await expectAlive();
  });

  test('generated requests from hostile parts', async () => {
    const piece = fc.oneof(
      fc.constantFrom(
        'GET ',
        'POST ',
        'OPTIONS ',
        '/',
        '*',
        '/users/',
        '%2e%2e',
        '%',
        '?a=',
        '&',
        '#',
        ' HTTP/1.1',
        ' HTTP/1.0',
        '\r\n',
        '\r\n\r\n',
        '\n',
        'Host: a\r\n',
        'Content-Length: 5\r\n',
        'Transfer-Encoding: chunked\r\n',
        'Content-Type: application/json\r\n',
        'Expect: 100-continue\r\n',
        'Connection: close\r\n',
        'Connection: upgrade\r\n',
        '{"a":1}',
        '5\r\nabcde\r\n',
        '0\r\n\r\n',
      ),
      fc.uint8Array({ maxLength: 8 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
    );

    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(piece, { maxLength: 15 }), { minLength: 20, maxLength: 20 }),
        async (attacks) => {
          await Promise.all(attacks.map((pieces) => attack(pieces.join(''), 5)));
          return child.exitCode === null;
        },
      ),
      { numRuns: 50 },
    );

    await expectAlive();
  });
});
