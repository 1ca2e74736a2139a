import { AsyncLocalStorage } from 'node:async_hooks';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire, stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

import { expect, onTestFinished, test } from 'vitest';

import { createApp } from './application.ts';
import type { Middleware } from './context.ts';
import { request } from './testing/index.ts';

type Express = (req: object, res: object, next: (error?: unknown) => void) => unknown;
type Factory = (options?: object) => Express;

const load = createRequire(import.meta.url);
const factoryOf = (name: string): Factory => {
  const loaded = load(name);
  return loaded.default ?? loaded;
};

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
const adapter = readme.split('```').find((text) => text.includes('function fromExpress')) ?? '';
const { fromExpress } = (await import(
  /* @vite-ignore */ `data:text/javascript,${encodeURIComponent(stripTypeScriptTypes(adapter.replace(/^ts\n/, '')))}`
)) as { fromExpress(middleware: Express): Middleware };

const createQuietApp = () => createApp({ logger: { info() {}, warn() {}, error() {} } });

const LARGE = 'compressible '.repeat(1_000);

test('helmet sets its headers', async () => {
  const app = createQuietApp()
    .use(fromExpress(factoryOf('helmet')()))
    .use((ctx) => ctx.json({}));

  const { headers } = await request(app, '/');

  expect(headers.get('content-security-policy')).toContain("default-src 'self'");
  expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
});

test('cors responds to a preflight request itself, and sets headers on others', async () => {
  const app = createQuietApp()
    .use(fromExpress(factoryOf('cors')({ origin: 'https://a.example' })))
    .use((ctx) => ctx.set('Vary', 'Accept').json({}));
  const headers = { Origin: 'https://a.example', 'Access-Control-Request-Method': 'PUT' };

  const preflight = await request(app, '/', { method: 'OPTIONS', headers });
  const other = await request(app, '/', { headers });

  expect(preflight.status).toBe(204);
  expect(preflight.headers.get('access-control-allow-methods')).toContain('PUT');
  expect(other.headers.get('access-control-allow-origin')).toBe('https://a.example');
  expect(other.headers.get('vary')).toBe('Origin, Accept');
});

test.each<readonly [string, Middleware]>([
  ['a whole response', (ctx) => ctx.send(LARGE)],
  ['a stream', (ctx) => ctx.set('Content-Type', 'text/plain').send(new Blob([LARGE]).stream())],
  ['an empty response', (ctx) => ctx.send('')],
  ['a small response', (ctx) => ctx.send('small')],
])('compression handles %s', async (_, handler) => {
  const app = createQuietApp().use(fromExpress(factoryOf('compression')()), handler);
  const plain = createQuietApp().use(handler);

  const response = await request(app, '/', { headers: { 'Accept-Encoding': 'gzip' } });
  const expected = await (await request(plain, '/')).text();

  const body = Buffer.from(await response.arrayBuffer());
  const isCompressed = response.headers.get('content-encoding') === 'gzip';
  expect(isCompressed).toBe(expected.length > 1_024);
  expect((isCompressed ? gunzipSync(body) : body).toString()).toBe(expected);
});

test('express-session sets a cookie in addition to those of the handler, and finds the session again', async () => {
  const session = factoryOf('express-session')({
    secret: 'secret',
    resave: false,
    saveUninitialized: true,
  });
  const app = createQuietApp()
    .use(fromExpress(session))
    .use((ctx) => {
      const { session } = ctx.raw.req as unknown as { session: { visits?: number } };
      session.visits = (session.visits ?? 0) + 1;
      ctx.set('Set-Cookie', 'own=1').json({ visits: session.visits });
    });

  const first = await request(app, '/');
  const [own, cookie = ''] = first.headers.getSetCookie();
  const second = await request(app, '/', { headers: { Cookie: cookie } });

  expect(own).toBe('own=1');
  expect(cookie).toMatch(/^connect\.sid=/);
  expect(await first.json()).toEqual({ visits: 1 });
  expect(await second.json()).toEqual({ visits: 2 });
});

test.each<readonly [string, string, Middleware]>([
  ['a whole response', '200 5', (ctx) => ctx.send('hello')],
  ['an empty response', '204 -', (ctx) => ctx.send('')],
  ['an error', '409 ', (ctx) => ctx.throw(409)],
])('morgan logs status and length of %s', async (_, expected, handler) => {
  const lines: string[] = [];
  const stream = { write: (line: string) => void lines.push(line) };
  const morgan = load('morgan')(':status :res[content-length]', { stream });
  const app = createQuietApp().use(fromExpress(morgan), handler);

  await request(app, '/');

  await expect.poll(() => lines).toEqual([expect.stringContaining(expected)]);
});

test('multer reads the fields and files of a form, in the async context of the request', async () => {
  const storage = new AsyncLocalStorage<string>();
  const app = createQuietApp()
    .use((_ctx, next) => storage.run('request', next))
    .use(fromExpress(load('multer')().single('file')))
    .use((ctx) => {
      const { body, file } = ctx.raw.req as unknown as {
        body: Record<string, string>;
        file: { buffer: Buffer };
      };
      ctx.json({ name: body.name, file: file.buffer.toString(), store: storage.getStore() });
    });
  const form = new FormData();
  form.set('name', 'Ada');
  form.set('file', new Blob(['content']), 'a.txt');
  const encoded = new Request('http://a', { method: 'POST', body: form });

  const response = await request(app, '/', {
    method: 'POST',
    headers: { 'Content-Type': encoded.headers.get('content-type') ?? '' },
    body: await encoded.bytes(),
  });

  expect(await response.json()).toEqual({ name: 'Ada', file: 'content', store: 'request' });
});

test('an error that Express middleware passes on is the response', async () => {
  const app = createQuietApp().use(
    fromExpress((_req, _res, next) =>
      next(Object.assign(new Error('Too many'), { status: 429, expose: true })),
    ),
  );

  expect((await request(app, '/')).status).toBe(429);
});

const conflict = Object.assign(new Error('Conflict'), { status: 409, expose: true });

test.each<readonly [string, Express]>([
  [
    'throws',
    () => {
      throw conflict;
    },
  ],
  ['rejects', () => Promise.reject(conflict)],
])('an error with which Express middleware %s is the response', async (_, middleware) => {
  const app = createQuietApp().use(fromExpress(middleware));

  expect((await request(app, '/')).status).toBe(409);
});

test('Express middleware that rejects after next() does not change the response', async () => {
  const app = createQuietApp()
    .use(
      fromExpress(async (_req, _res, next) => {
        next();
        throw conflict;
      }),
    )
    .use((ctx) => ctx.send('sent'));

  expect(await (await request(app, '/')).text()).toBe('sent');
});

test('the adapter accepts the types of helmet, cors, compression, express-session, morgan and multer', () => {
  const root = join(import.meta.dirname, '../../..');
  mkdirSync(join(root, '.local'), { recursive: true });
  const folder = mkdtempSync(join(root, '.local/express-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const tsconfig = { extends: join(root, 'tsconfig.json'), include: ['*.ts'] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(tsconfig));
  const program = `
import compression from 'compression';
import cors from 'cors';
import session from 'express-session';
import helmet from 'helmet';
import morgan from 'morgan';
import multer from 'multer';
${adapter.replace(/^ts\n/, '')}
export const all = [
  fromExpress(compression()),
  fromExpress(cors()),
  fromExpress(session({ secret: 'secret' })),
  fromExpress(helmet()),
  fromExpress(morgan('tiny')),
  fromExpress(multer().single('file')),
];
`;
  writeFileSync(join(folder, 'program.ts'), program);

  const { stdout } = spawnSync(
    process.execPath,
    [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder],
    { encoding: 'utf8' },
  );

  expect(stdout).toBe('');
}, 60_000);
