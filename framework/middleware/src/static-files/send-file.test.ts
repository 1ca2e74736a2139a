import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { type Context, createApp, createRouter, type Middleware } from '@fw/core';
import { preventStorage } from '@fw/core/extension';
import { openConnection, quiet, type RequestOptions, recordLog, request } from '@fw/core/testing';
import { afterAll, describe, expect, test } from 'vitest';
import { serve } from '../../../core/src/testing/vitest.ts';
import { session } from '../session/session.ts';
import { type SendFileOptions, sendFile } from './static-files.ts';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'send-file-')));
afterAll(() => rmSync(folder, { recursive: true }));
const root = join(folder, 'files');
const linkedRoot = join(folder, 'linked');
const LARGE = 20 * 1024 ** 2;
const CHANGED = new Date('2026-01-02T03:04:05.678Z');

mkdirSync(join(root, 'ada'), { recursive: true });
mkdirSync(join(folder, 'files-of-others'));
for (const name of [
  'files/digits.txt',
  'files/ada/digits.txt',
  'files/index.html',
  'files/.env',
  'files/a1b2c3',
  'files-of-others/digits.txt',
]) {
  writeFileSync(join(folder, name), '0123456789');
  utimesSync(join(folder, name), CHANGED, CHANGED);
}
writeFileSync(join(root, 'large.bin'), Buffer.alloc(LARGE));
symlinkSync(root, linkedRoot);
symlinkSync(join(folder, 'files-of-others/digits.txt'), join(root, 'outside.txt'));
symlinkSync(join(root, 'digits.txt'), join(root, 'ada/digits-of-all.txt'));
execFileSync('mkfifo', [join(root, 'pipe.txt')]);

function createSender(path: string, options: Partial<SendFileOptions> = {}) {
  return createApp({ logger: quiet }).use((ctx) => sendFile(ctx, path, { root, ...options }));
}

const send = (path: string, options?: Partial<SendFileOptions>, sent?: RequestOptions) =>
  request(createSender(path, options), '/', sent);

/** The files of `folder` that this process has open. */
function openFiles(): readonly string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${fd}`);
      return path.startsWith(folder) ? [path] : [];
    } catch {
      return []; // the descriptor of this listing
    }
  });
}

test('sendFile sends a file with type, length, validators and a policy for one user', async () => {
  const response = await send('digits.txt');

  expect(response.status).toBe(200);
  expect(await response.text()).toBe('0123456789');
  const headers = Object.fromEntries(response.headers);
  expect(headers).toMatchObject({
    'content-type': 'text/plain; charset=utf-8',
    'content-length': '10',
    'last-modified': 'Fri, 02 Jan 2026 03:04:05 GMT',
    etag: expect.stringMatching(/^"[\w-]{27}"$/),
    'cache-control': 'private, no-cache',
    'accept-ranges': 'bytes',
    'x-content-type-options': 'nosniff',
  });
  expect(headers).not.toHaveProperty('content-disposition');
});

test.each([
  ['a range', 'GET', { Range: 'bytes=2-3' }, 206, '23'],
  ['a range outside the file', 'GET', { Range: 'bytes=10-' }, 416, ''],
  ['If-None-Match', 'GET', { 'If-None-Match': '*' }, 304, ''],
  ['a false If-Match', 'GET', { 'If-Match': '"x"' }, 412, ''],
  ['HEAD', 'HEAD', {}, 200, ''],
  [
    'conditions of another method',
    'POST',
    { 'If-Match': '"x"', Range: 'bytes=2-3' },
    200,
    '0123456789',
  ],
] as const)('sendFile supports %s', async (_, method, headers, status, text) => {
  const response = await send('digits.txt', {}, { method, headers });

  expect(response.status).toBe(status);
  if (status < 400) expect(await response.text()).toBe(text);
  await expect.poll(() => openFiles()).toEqual([]);
});

describe('the path', () => {
  test.each([
    ['in the root', 'digits.txt', root],
    ['in a folder of the root', 'ada/digits.txt', root],
    ['with dots that stay in the root', 'ada/../digits.txt', root],
    ['that is absolute', join(root, 'digits.txt'), root],
    ['through a link in the root', 'ada/digits-of-all.txt', root],
    ['of a relative root', 'digits.txt', relative(process.cwd(), root)],
    ['of a root that is a link', join(linkedRoot, 'digits.txt'), linkedRoot],
  ])('%s is sent', async (_, path, from) => {
    const response = await send(path, { root: from });

    expect(await response.text()).toBe('0123456789');
  });

  test.each([
    ['is missing', 'none.txt', root],
    ['is empty', '', root],
    ['is a folder', 'ada', root],
    ['is a hidden file', '.env', root],
    ['is a named pipe', 'pipe.txt', root],
    ['contains NUL', 'digits.txt\0', root],
    ['contains a backslash', 'ada\\digits.txt', root],
    ['leads out of the root', '../files-of-others/digits.txt', root],
    [
      'leads to a folder whose name only starts with that of the root',
      `${root}-of-others/digits.txt`,
      root,
    ],
    ['is absolute and outside', '/etc/passwd', root],
    ['is a link out of the root', 'outside.txt', root],
    ['is a link out of a root within another', 'digits-of-all.txt', join(root, 'ada')],
  ])('gets 404 if it %s', async (_, path, from) => {
    const response = await send(path, { root: from });

    expect(response.status).toBe(404);
    expect(await response.text()).not.toContain(folder);
    expect(response.headers.get('cache-control')).not.toBe('private, no-cache');
    expect(openFiles()).toEqual([]);
  });

  test('outside the root is logged once for each route, without the path', async () => {
    const { logger, problems } = recordLog();
    const router = createRouter().get('/:name', (ctx) =>
      sendFile(ctx, `../${ctx.params.name}`, { root }),
    );
    const app = createApp({ logger });
    app.route('/files', router);

    await request(app, '/files/secret-1');
    await request(app, '/files/secret-2');

    expect(problems).toEqual([
      'warn: GET /files/:name called sendFile() with a path outside root, and responds with 404',
    ]);
  });
});

test.each<readonly [string, unknown, object, string]>([
  ['without a path', undefined, { root }, 'Cannot send the file "undefined": expected a path'],
  ['without root', 'a', {}, 'sendFile() needs the option root: a string'],
  [
    'with a root that does not exist',
    'a',
    { root: join(root, 'none') },
    'expected an existing folder',
  ],
  [
    'with a root that is a file',
    'a',
    { root: join(root, 'digits.txt') },
    'expected an existing folder',
  ],
  ['with an empty name', 'a', { root, downloadName: '' }, 'expected a name of 1 to 255 characters'],
  ['with a long name', 'a', { root, downloadName: 'a'.repeat(256) }, 'expected a name of 1 to 255'],
  ['with an unknown option', 'a', { root, name: 'a' }, 'sendFile() has no option "name"'],
])('sendFile rejects a call %s', async (_, path, options, message) => {
  const sent = sendFile({} as Context, path as string, options as SendFileOptions);

  await expect(sent).rejects.toThrow(TypeError);
  await expect(sent).rejects.toThrow(message);
});

describe('Cache-Control of sendFile', () => {
  const set =
    (value: string): Middleware =>
    (ctx, next) => {
      ctx.set('Cache-Control', value);
      return next();
    };
  const byDefault: Middleware = (ctx, next) => {
    preventStorage(ctx);
    return next();
  };

  test.each([
    ['of the handler stays', set('private, max-age=60'), 'private, max-age=60'],
    ['no-store of the handler stays', set('no-store'), 'no-store'],
    ['replaces the default of a service', byDefault, 'private, no-cache'],
    [
      'adds to that of session(), with which a browser may guess the age',
      session({ secrets: ['x'.repeat(44)] }) as Middleware,
      'private, no-cache',
    ],
  ])('%s', async (_, before, expected) => {
    const app = createApp({ logger: quiet }).use(before, (ctx) =>
      sendFile(ctx, 'digits.txt', { root }),
    );

    const { headers } = await request(app, '/');

    expect(headers.get('cache-control')).toBe(expected);
  });
});

describe('the download name', () => {
  test.each([
    ['report.pdf', 'attachment; filename="report.pdf"'],
    ['May report (2).pdf', 'attachment; filename="May report (2).pdf"'],
    ['café.pdf', `attachment; filename="caf_.pdf"; filename*=UTF-8''caf%C3%A9.pdf`],
    ['報告.pdf', `attachment; filename="__.pdf"; filename*=UTF-8''%E5%A0%B1%E5%91%8A.pdf`],
    ['😀.pdf', `attachment; filename="_.pdf"; filename*=UTF-8''%F0%9F%98%80.pdf`],
    ['50%.pdf', `attachment; filename="50_.pdf"; filename*=UTF-8''50%25.pdf`],
    [`"a"'(*).pdf`, `attachment; filename="_a_'(*).pdf"; filename*=UTF-8''%22a%22%27%28%2A%29.pdf`],
    ['../a\\b.pdf', 'attachment; filename=".._a_b.pdf"'],
    ['a\r\nSet-Cookie: b.pdf', 'attachment; filename="a__Set-Cookie: b.pdf"'],
    ['\ud800.pdf', `attachment; filename="_.pdf"; filename*=UTF-8''%EF%BF%BD.pdf`],
  ])('%j is sent as %s, with its type', async (downloadName, expected) => {
    const { status, headers } = await send('a1b2c3', { downloadName });

    expect(status).toBe(200);
    expect(headers.get('content-disposition')).toBe(expected);
    expect(headers.get('content-type')).toBe('application/pdf');
  });

  test('does not replace a type that the handler has set', async () => {
    const app = createApp({ logger: quiet }).use((ctx) => {
      ctx.set('Content-Type', 'text/csv; header=present');
      return sendFile(ctx, 'a1b2c3', { root, downloadName: 'a.csv' });
    });

    const { headers } = await request(app, '/');

    expect(headers.get('content-type')).toBe('text/csv; header=present');
  });
});

test('sendFile closes its file when clients disconnect', async () => {
  const { port } = await serve(createSender('large.bin'));
  const clients = Array.from({ length: 5 }, () =>
    openConnection(port).send('GET / HTTP/1.1\r\nHost: a\r\n\r\n'),
  );
  await Promise.all(clients.map((client) => client.read(/\r\n\r\n/)));
  const opened = openFiles().length;

  for (const client of clients) client.close();

  expect(opened).toBe(5);
  await expect.poll(() => openFiles()).toEqual([]);
});
