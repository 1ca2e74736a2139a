import { execFileSync } from 'node:child_process';
import fs, {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createApp, type Middleware } from '@fw/core';
import { preventStorage } from '@fw/core/extension';
import { openConnection, quiet, type RequestOptions, recordLog, request } from '@fw/core/testing';
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { serve } from '../../../core/src/testing/vitest.ts';
import { session } from '../session/session.ts';
import { type StaticFilesOptions, staticFiles } from './static-files.ts';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'static-files-')));
afterAll(() => rmSync(folder, { recursive: true }));
const root = join(folder, 'public');
const LARGE = 20 * 1024 ** 2;
const CHANGED = new Date('2026-01-02T03:04:05.678Z');
const LAST_MODIFIED = 'Fri, 02 Jan 2026 03:04:05 GMT';

mkdirSync(join(root, 'docs'), { recursive: true });
mkdirSync(join(root, '.git'));
mkdirSync(join(root, 'empty'));
mkdirSync(join(root, 'styles.css.br'), { recursive: true });
for (const [name, text] of [
  ['public/index.html', '<p>home</p>'],
  ['public/docs/index.html', '<p>docs</p>'],
  ['public/digits.txt', '0123456789'],
  ['public/empty.txt', ''],
  ['public/café 100%.txt', 'coffee'],
  ['public/app.js', 'let a;'],
  ['public/app.js.br', 'as brotli'],
  ['public/app.js.gz', 'as gzip'],
  ['public/app.js.zst', 'as zstd'],
  ['public/styles.css', 'a {}'],
  ['public/styles.css.gz', 'as gzip'],
  ['public/data.unknown', 'bytes'],
  ['public/photo.jpg', 'photo'],
  ['public/photo.jpg.gz', 'as gzip'],
  ['public/.env', 'SECRET=1'],
  ['public/.git/config', 'SECRET=1'],
  ['secret.txt', 'SECRET=1'],
] as const) {
  writeFileSync(join(folder, name), text);
  utimesSync(join(folder, name), CHANGED, CHANGED);
}
writeFileSync(join(root, 'large.bin'), Buffer.alloc(LARGE));
symlinkSync(join(folder, 'secret.txt'), join(root, 'outside.txt'));
symlinkSync(folder, join(root, 'parent'));
symlinkSync(join(root, '.env'), join(root, 'hidden.txt'));
symlinkSync('digits.txt', join(root, 'inside.txt'));
symlinkSync('loop.txt', join(root, 'loop.txt'));
execFileSync('mkfifo', [join(root, 'pipe.txt')]);

function createFiles(options: Partial<StaticFilesOptions> = {}) {
  return createApp({ logger: quiet }).use(staticFiles({ root, ...options }));
}

const get = (path: string, headers: RequestOptions['headers'] = {}, app = createFiles()) =>
  request(app, path, { headers });

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

describe('a file', () => {
  test('is sent with its type, length, validators and policy', async () => {
    const response = await get('/digits.txt');
    const unknown = await get('/data.unknown');

    expect(unknown.headers.get('content-type')).toBe('application/octet-stream');
    expect(await response.text()).toBe('0123456789');
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'content-length': '10',
      'last-modified': LAST_MODIFIED,
      'cache-control': 'public, max-age=0',
      'accept-ranges': 'bytes',
    });
    expect(response.headers.get('etag')).toMatch(/^"[\w-]{27}"$/);
  });

  test.each([
    ['/', '<p>home</p>'],
    ['/docs/', '<p>docs</p>'],
    ['/empty.txt', ''],
    ['/caf%C3%A9%20100%25.txt', 'coffee'],
    ['/inside.txt', '0123456789'],
    ['/digits.txt?v=1', '0123456789'],
  ])('GET %s responds with %j', async (path, text) => {
    const response = await get(path);

    expect(response.status).toBe(200);
    expect(await response.text()).toBe(text);
  });

  test('is served under a prefix only, in any case of its letters', async () => {
    const app = createFiles({ prefix: '/assets' });

    expect((await get('/assets/digits.txt', {}, app)).status).toBe(200);
    expect((await get('/ASSETS/digits.txt', {}, app)).status).toBe(200);
    expect((await get('/digits.txt', {}, app)).status).toBe(404);
    expect((await get('/assetsdigits.txt', {}, app)).status).toBe(404);
  });

  test.each([
    [{ maxAgeSeconds: 60 }, 'public, max-age=60'],
    [{ maxAgeSeconds: 31_536_000, immutable: true }, 'public, max-age=31536000, immutable'],
  ])('with the options %j has Cache-Control: %s', async (options, expected) => {
    const { headers } = await get('/digits.txt', {}, createFiles(options));

    expect(headers.get('cache-control')).toBe(expected);
  });
});

test('without /proc, which only Linux has, links are followed only within the folder too', async () => {
  vi.resetModules();
  vi.spyOn(fs, 'existsSync').mockReturnValue(false);
  const { staticFiles: create } = await import('./static-files.ts');
  vi.restoreAllMocks();
  const core = await import('@fw/core'); // the instance that these static files use
  const { request: send } = await import('@fw/core/testing');
  const app = core.createApp().use(create({ root }));

  expect((await send(app, '/outside.txt')).status).toBe(404);
  expect((await send(app, '/hidden.txt')).status).toBe(404);
  expect(await (await send(app, '/inside.txt')).text()).toBe('0123456789');
});

test('a folder without a trailing slash is redirected and keeps its query', async () => {
  const app = createFiles({ prefix: '/assets' });

  const folderResponse = await get('/assets/docs?a=1', {}, app);
  const rootResponse = await get('/assets', {}, app);

  expect(folderResponse.status).toBe(301);
  expect(folderResponse.headers.get('location')).toBe('/assets/docs/?a=1');
  expect(rootResponse.headers.get('location')).toBe('/assets/');
});

describe('next() handles', () => {
  test.each([
    ['a missing file', '/missing.txt'],
    ['a file used as a folder', '/digits.txt/x'],
    ['a file with a trailing slash', '/digits.txt/'],
    ['a folder without index.html', '/empty/'],
    ['an empty segment', '//docs/'],
    ['a dot file', '/.env'],
    ['a file in a dot folder', '/.git/config'],
    ['an encoded slash', '/docs%2Findex.html'],
    ['a symbolic link to a file outside', '/outside.txt'],
    ['a symbolic link to a folder outside', '/parent/secret.txt'],
    ['a symbolic link to a dot file', '/hidden.txt'],
    ['a symbolic link to itself', '/loop.txt'],
    ['a named pipe', '/pipe.txt'],
    ['a name that is too long', `/${'x'.repeat(300)}`],
    ['a drive or stream of Windows', '/C:/secret.txt'],
    ['a trailing dot, which Windows ignores', '/digits.txt.'],
    ['a device of Windows', '/con.txt'],
  ])('%s', async (_, path) => {
    const app = createFiles().use((ctx) => ctx.throw(404, 'not served'));

    const response = await get(path, {}, app);

    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ detail: 'not served' });
    expect(response.headers.get('cache-control')).toBeNull();
  });

  test.each(['/../secret.txt', '/%2e%2e/secret.txt', '/docs\\index.html', '/a%00b'])(
    'nothing for %s: the path is invalid',
    async (path) => {
      expect((await get(path)).status).toBe(400);
    },
  );

  test('POST', async () => {
    const app = createFiles().use((ctx) => ctx.send('next'));
    const response = await request(app, '/digits.txt', { method: 'POST' });

    expect(await response.text()).toBe('next');
  });
});

describe('a conditional request', async () => {
  const etag = (await get('/digits.txt')).headers.get('etag') ?? '';

  test.each<readonly [Record<string, string>, number]>([
    [{ 'If-None-Match': etag }, 304],
    [{ 'If-Modified-Since': LAST_MODIFIED }, 304],
    [{ 'If-Modified-Since': 'Fri, 02 Jan 2026 03:04:04 GMT' }, 200],
    [{ 'If-None-Match': '"x"', 'If-Modified-Since': LAST_MODIFIED }, 200],
    [{ 'If-Match': etag }, 200],
    [{ 'If-Match': '"x"' }, 412],
    [{ 'If-Unmodified-Since': 'Fri, 02 Jan 2026 03:04:04 GMT' }, 412],
    [{ 'If-Match': etag, 'If-Unmodified-Since': 'Fri, 02 Jan 2026 03:04:04 GMT' }, 200],
  ])('with %j gets %d', async (headers, status) => {
    const response = await get('/digits.txt', headers);

    expect(response.status).toBe(status);
    if (status === 412) return;
    expect(response.headers.get('etag')).toBe(etag);
    expect(response.headers.get('last-modified')).toBe(LAST_MODIFIED);
    expect(response.headers.get('cache-control')).toBe('public, max-age=0');
  });
});

describe('files of two releases with the same size and time of change', () => {
  /** A response for each content, of a file whose time of change is `time`. */
  async function release(name: string, time: number, contents: readonly Buffer[], headers = {}) {
    const path = join(root, name);
    const responses = [];
    for (const content of contents) {
      writeFileSync(path, content);
      utimesSync(path, time, time);
      responses.push(await get(`/${name}`, headers, createFiles()));
    }
    onTestFinished(() => rmSync(path));
    return responses;
  }

  test.each([10, 100_000, 9 * 1024 ** 2])('have different tags (%i bytes)', async (bytes) => {
    const contents = ['a', 'b'].map((letter) => Buffer.alloc(bytes, letter));

    const [first, second] = await release(`release-${bytes}`, 1_700_000_000, contents);

    const tags = [first, second].map((response) => response?.headers.get('etag'));
    expect(new Set(tags).size).toBe(2);
    expect(tags).toEqual([expect.stringMatching(/^"/), expect.stringMatching(/^"/)]);
  });

  test('have the same tag if they have the same content, also in another folder', async () => {
    const content = Buffer.alloc(100_000, 'a');
    const [one] = await release('one.bin', 1_700_000_000, [content]);
    const [other] = await release('other.bin', 1_800_000_000, [content]);

    expect(other?.headers.get('etag')).toBe(one?.headers.get('etag'));
  });

  test.each([0, 315_532_800])(
    'have no Last-Modified at the time %i of reproducible builds',
    async (time) => {
      const date = { 'If-Modified-Since': new Date().toUTCString() };
      const [response] = await release(`time-${time}`, time, [Buffer.from('a')], date);

      expect(response?.status).toBe(200);
      expect(response?.headers.get('last-modified')).toBeNull();
    },
  );
});

describe('a range', async () => {
  const etag = (await get('/digits.txt')).headers.get('etag') ?? '';

  test.each([
    ['bytes=0-3', '0123', 'bytes 0-3/10'],
    ['bytes=7-', '789', 'bytes 7-9/10'],
    ['bytes=-2', '89', 'bytes 8-9/10'],
    ['bytes=-99', '0123456789', 'bytes 0-9/10'],
    ['BYTES= 9-9 ', '9', 'bytes 9-9/10'],
  ])('%s gets 206 with %s', async (range, text, contentRange) => {
    const response = await get('/digits.txt', { Range: range });

    expect(response.status).toBe(206);
    expect(await response.text()).toBe(text);
    expect(response.headers.get('content-range')).toBe(contentRange);
    expect(response.headers.get('content-length')).toBe(String(text.length));
  });

  test.each(['bytes=10-', 'bytes=-0', 'bytes=99999999999999999999-'])(
    '%s is outside the file and gets 416',
    async (range) => {
      const response = await get('/digits.txt', { Range: range });

      expect(response.status).toBe(416);
      expect(response.headers.get('content-range')).toBe('bytes */10');
      expect(response.headers.get('content-type')).toBe('application/problem+json');
      expect(await response.json()).toMatchObject({
        detail: 'The range must start within 10 bytes',
      });
    },
  );

  test('of the present state gets 206; of HEAD and of an empty file it is ignored', async () => {
    const headers = { Range: 'bytes=0-1' };
    const head = await request(createFiles(), '/digits.txt', { method: 'HEAD', headers });

    expect((await get('/digits.txt', { ...headers, 'If-Range': etag })).status).toBe(206);
    expect([head.status, head.headers.get('content-length')]).toEqual([200, '10']);
    expect((await get('/empty.txt', headers)).status).toBe(200);
  });

  test.each<readonly [string, Record<string, string>]>([
    ['of several parts', { Range: 'bytes=0-1,3-4' }],
    ['that ends before its start', { Range: 'bytes=5-2' }],
    ['without positions', { Range: 'bytes=-' }],
    ['that is malformed', { Range: 'bytes=a-b' }],
    ['of another state', { Range: 'bytes=0-1', 'If-Range': '"x"' }],
    ['of a weak tag', { Range: 'bytes=0-1', 'If-Range': `W/${etag}` }],
    ['of a date, which two releases can have', { Range: 'bytes=0-1', 'If-Range': LAST_MODIFIED }],
  ])('%s gets the whole file', async (_, headers) => {
    const response = await get('/digits.txt', headers);

    expect(response.status).toBe(200);
    expect(await response.text()).toBe('0123456789');
  });
});

describe('a precompressed file', () => {
  const app = createFiles({ precompressed: true });

  test.each([
    ['app.js', 'gzip, deflate, br, zstd', 'br', 'as brotli'],
    ['app.js', 'gzip, zstd', 'zstd', 'as zstd'],
    ['app.js', 'identity', null, 'let a;'],
    ['styles.css', 'gzip, br, zstd', 'gzip', 'as gzip'],
    ['styles.css', 'br, zstd', null, 'a {}'],
  ])('of %s for Accept-Encoding "%s" has the coding %s', async (name, accepted, coding, text) => {
    const response = await get(`/${name}`, { 'Accept-Encoding': accepted }, app);

    expect(response.headers.get('content-encoding')).toBe(coding);
    expect(response.headers.get('content-type')).toMatch(/^text\/(javascript|css); charset=utf-8$/);
    expect(response.headers.get('vary')).toBe('Accept-Encoding');
    expect(await response.text()).toBe(text);
  });

  test.each([
    ['without the option', createFiles(), '/app.js', 'let a;'],
    ['for types that are compressed already', app, '/photo.jpg', 'photo'],
  ])('is not sent %s', async (_, files, path, text) => {
    const response = await get(path, { 'Accept-Encoding': 'gzip' }, files);

    expect(await response.text()).toBe(text);
    expect(response.headers.get('vary')).toBeNull();
  });

  test('has another entity tag than the file and its other variants', async () => {
    const tags = await Promise.all(
      ['identity', 'gzip', 'br'].map(async (coding) =>
        (await get('/app.js', { 'Accept-Encoding': coding }, app)).headers.get('etag'),
      ),
    );

    expect(tags).toEqual([
      expect.stringMatching(/^"[\w-]{27}"$/),
      expect.stringMatching(/^"[\w-]{27}-gzip"$/),
      expect.stringMatching(/^"[\w-]{27}-br"$/),
    ]);
  });
});

describe('the content of small files', () => {
  /** An application in a process whose clock is ahead, so that the files are not new, and its calls of `fs`. */
  async function createCountedFiles(aheadMs = 60_000) {
    vi.resetModules();
    const open = vi.spyOn(fs, 'open');
    const fsRead = vi.spyOn(fs, 'read');
    onTestFinished(() => void vi.restoreAllMocks());
    const { createApp } = await import('@fw/core');
    const { staticFiles } = await import('./static-files.ts');
    const now = Date.now() + aheadMs;
    vi.spyOn(Date, 'now').mockImplementation(() => now);
    const app = createApp({ logger: quiet }).use(staticFiles({ root, precompressed: true }));
    const read = async (path: string, headers: RequestOptions['headers'] = {}) => {
      const response = await get(path, headers, app);
      return response.status < 300 ? await response.text() : response.status;
    };
    return { read, open, fsRead };
  }

  /** Changes a file once its time of change would differ from the present one. */
  async function change(path: string, text: string): Promise<void> {
    const { ctimeNs } = fs.statSync(path, { bigint: true });
    await vi.waitFor(() => {
      writeFileSync(path, text);
      expect(fs.statSync(path, { bigint: true }).ctimeNs).not.toBe(ctimeNs);
    });
  }

  test('is read once, also for ranges and as a compressed variant', async () => {
    const { read, open } = await createCountedFiles();
    const brotli = { 'Accept-Encoding': 'br' };

    expect(await read('/digits.txt', { Range: 'bytes=2-3' })).toBe('23'); // not the whole content
    expect(await read('/digits.txt')).toBe('0123456789');
    expect(await read('/digits.txt')).toBe('0123456789');
    expect(await read('/digits.txt', { Range: 'bytes=2-3' })).toBe('23');
    expect(open).toHaveBeenCalledTimes(2);
    expect(await read('/app.js', brotli)).toBe('as brotli');
    expect(await read('/app.js.br')).toBe('as brotli');
    expect(open).toHaveBeenCalledTimes(3);
  });

  test('and of larger ones is hashed once', async () => {
    const { read, fsRead } = await createCountedFiles();
    writeFileSync(join(root, 'hashed.bin'), Buffer.alloc(100_000, 'a'));

    await read('/hashed.bin');
    expect(fsRead).toHaveBeenCalledTimes(3); // one for the hash, two for the stream
    await read('/hashed.bin');

    expect(fsRead).toHaveBeenCalledTimes(5);
  });

  test('is read again after a change of the same length', async () => {
    const { read } = await createCountedFiles();
    const path = join(root, 'edited.txt');
    writeFileSync(path, 'old');
    expect(await read('/edited.txt')).toBe('old');

    await change(path, 'new');

    expect(await read('/edited.txt')).toBe('new');
  });

  test('is read each time for two seconds after a change: another one can have the same time stamp', async () => {
    const { read, open } = await createCountedFiles(0);
    writeFileSync(join(root, 'fresh.txt'), 'fresh');

    await read('/fresh.txt');
    await read('/fresh.txt');

    expect(open).toHaveBeenCalledTimes(2);
  });

  test('is not served after the file was deleted, or became a link out of the folder', async () => {
    const { read } = await createCountedFiles();
    const path = join(root, 'removed.txt');
    writeFileSync(path, 'text');
    expect(await read('/removed.txt')).toBe('text');

    rmSync(path);
    expect(await read('/removed.txt')).toBe(404);
    symlinkSync(join(folder, 'secret.txt'), path);
    expect(await read('/removed.txt')).toBe(404);
  });

  test('stays in memory up to 16 MiB, of the files that were requested last', async () => {
    const { read, open } = await createCountedFiles();
    const many = join(root, 'many');
    mkdirSync(many);
    onTestFinished(() => rmSync(many, { recursive: true }));
    const content = Buffer.alloc(64 * 1024);
    for (let index = 0; index <= 260; index++) writeFileSync(join(many, `${index}.bin`), content);

    for (let index = 0; index <= 260; index++) {
      await read(`/many/${index}.bin`);
      await read('/many/0.bin');
    }
    expect(open).toHaveBeenCalledTimes(261);
    await read('/many/0.bin');
    expect(open).toHaveBeenCalledTimes(261);
    await read('/many/1.bin');
    expect(open).toHaveBeenCalledTimes(262);
  });
});

describe('file descriptors', () => {
  test.each<readonly [string, string, RequestOptions]>([
    ['a whole file', '/digits.txt', {}],
    ['HEAD', '/large.bin', { method: 'HEAD' }],
    ['304', '/digits.txt', { headers: { 'If-None-Match': '*' } }],
    ['412', '/digits.txt', { headers: { 'If-Match': '"x"' } }],
    ['416', '/digits.txt', { headers: { Range: 'bytes=99-' } }],
    ['a folder', '/docs', {}],
    ['a named pipe', '/pipe.txt', {}],
  ])('are closed after %s', async (_, path, options) => {
    await request(createFiles(), path, options);

    await expect.poll(() => openFiles()).toEqual([]);
  });

  test.each(['/digits.txt', '/large.bin'])(
    'are closed once if %s is read after another response',
    async (path) => {
      const { logger, errors } = recordLog();
      const app = createApp({ logger });
      app.use(async (ctx, next) => {
        const running = next();
        ctx.json({ early: true });
        await running;
      }, staticFiles({ root }));

      await request(app, path);

      await expect.poll(() => openFiles()).toEqual([]);
      expect(String(errors)).toContain('ctx.json() already responded');
    },
  );

  test('are closed when clients disconnect in the middle of a large file', async () => {
    const { port } = await serve(createFiles());
    const clients = Array.from({ length: 20 }, () =>
      openConnection(port).send('GET /large.bin HTTP/1.1\r\nHost: a\r\n\r\n'),
    );
    await Promise.all(clients.map((client) => client.read(/\r\n\r\n/)));
    const opened = openFiles().length;

    for (const client of clients) client.close();

    expect(opened).toBe(20);
    await expect.poll(() => openFiles()).toEqual([]);
  });

  test('a file that becomes shorter while it is sent ends the connection', async () => {
    const { port } = await serve(createFiles());
    const path = join(root, 'shrinking.bin');
    writeFileSync(path, Buffer.alloc(LARGE));
    const response = await fetch(`http://127.0.0.1:${port}/shrinking.bin`);
    truncateSync(path, 1_000);

    await expect(response.arrayBuffer()).rejects.toThrow('terminated');

    expect(response.headers.get('content-length')).toBe(String(LARGE));
    await expect.poll(() => openFiles()).toEqual([]);
  });
});

describe('Cache-Control', () => {
  /** What a service does first. */
  const preventDefault: Middleware = (ctx, next) => {
    preventStorage(ctx);
    return next();
  };
  const cacheControlOf = async (...before: Middleware[]) => {
    const app = createApp({ logger: quiet }).use(
      ...before,
      staticFiles({ root, maxAgeSeconds: 60 }),
    );
    return (await get('/digits.txt', {}, app)).headers.get('cache-control');
  };

  test('that is already set stays', async () => {
    const set = (value: string) =>
      cacheControlOf((ctx, next) => {
        ctx.set('Cache-Control', value);
        return next();
      });

    expect(await set('no-store')).toBe('no-store');
    expect(await set('private, max-age=5')).toBe('private, max-age=5');
  });

  test('replaces the default of a service, and is private behind a guard or with Authorization', async () => {
    const user: Middleware = (ctx, next) => {
      ctx.state.user = { id: 'ada' };
      return next();
    };
    const sessions = session({ secrets: ['x'.repeat(44)] }) as Middleware;
    const response = await get('/digits.txt', { Authorization: 'Basic YTpi' });

    expect(await cacheControlOf(preventDefault)).toBe('public, max-age=60');
    expect(await cacheControlOf(user)).toBe('private, max-age=60');
    expect(response.headers.get('cache-control')).toBe('private, max-age=0');
    expect(await cacheControlOf(preventDefault, sessions)).toBe('private, max-age=60');
    expect(await cacheControlOf(sessions)).toBe('private');
  });
});
