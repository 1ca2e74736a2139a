import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, realpathSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

import {
  createApp,
  type ListeningServer,
  type ListenOptions,
  listen,
  type Middleware,
} from '@fw/core';
import { createRouter } from '@fw/core/router';
import { openConnection, request } from '@fw/core/testing';
import { generateDocument } from '@fw/openapi';
import { validate } from '@fw/validation';
import {
  afterAll,
  afterEach,
  describe,
  expect,
  expectTypeOf,
  onTestFinished,
  test,
  vi,
} from 'vitest';
import { z } from 'zod';
import { type Form, type FormsOptions, forms } from './forms.ts';
import {
  BOUNDARY,
  filePart,
  formOf,
  HOSTILE_BODIES,
  MULTIPART_TYPE,
  part,
} from './testing/multipart.ts';
import { timeout } from './timeout.ts';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'forms-')));
afterAll(() => rmSync(folder, { recursive: true }));
const multipart = { folder };
const URLENCODED = 'application/x-www-form-urlencoded';

/** An application that responds with the parsed form, and the files that exist while it runs. */
function createEcho(options: FormsOptions = {}) {
  const failures: unknown[] = [];
  const error = (...values: unknown[]) => void failures.push(values);
  const app = createApp({ logger: { info() {}, warn: error, error } })
    .use(forms(options))
    .use(async (ctx) => ctx.json({ form: await describeForm(ctx.body as Form), files: onDisk() }));
  return { app, failures };
}

/** The files and folders of forms; no test leaves any. */
const onDisk = () => readdirSync(folder, { recursive: true });

async function describeForm(form: Form): Promise<unknown> {
  const describe = async (value: unknown): Promise<unknown> => {
    if (Array.isArray(value)) return Promise.all(value.map(describe));
    return value instanceof File
      ? { name: value.name, type: value.type, text: await value.text() }
      : value;
  };
  const entries = Object.entries(form).map(async ([name, value]) => [name, await describe(value)]);
  return Object.fromEntries(await Promise.all(entries));
}

function post(body: string, type = URLENCODED, options: FormsOptions = {}) {
  const bytes = Buffer.from(body, 'latin1');
  const headers = { 'Content-Type': type };
  return request(createEcho(options).app, '/', { method: 'POST', headers, body: bytes });
}

const postMultipart = (body: string, options = {}) =>
  post(body, MULTIPART_TYPE, { multipart: { ...multipart, ...options } });

const expectNoFiles = () => vi.waitFor(() => expect(onDisk()).toEqual([]), { timeout: 30_000 });
afterEach(expectNoFiles);

describe('a urlencoded form', () => {
  test.each([
    ['a=1&b=2', { a: '1', b: '2' }],
    ['a=1&a=2&a=3', { a: ['1', '2', '3'] }],
    ['a+b=c%20d%C3%A9', { 'a b': 'c dé' }],
    ['a[b]=1', { 'a[b]': '1' }],
    ['a', { a: '' }],
    ['constructor=1&toString=2', { constructor: '1', toString: '2' }],
  ])('%s becomes %j', async (body, expected) => {
    expect(await (await post(body)).json()).toMatchObject({ form: expected });
  });

  test.each([
    ['a malformed escape', 'a=%zz', 400],
    ['the field __proto__', '__proto__=1&__proto__=2', 400],
    ['invalid UTF-8', 'a=\xff', 400],
    ['more fields than maxFields', 'a=1&b=2&c=3', 413],
    ['more bytes than limit', `a=${'x'.repeat(100)}`, 413],
  ])('with %s is rejected', async (_, body, status) => {
    const response = await post(body, URLENCODED, { limit: 50, maxFields: 2 });

    expect(response.status).toBe(status);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
  });
});

describe('a multipart form', () => {
  test('becomes fields and files, and repeated names become arrays', async () => {
    const body = formOf(
      part('name="title"', 'caf\xc3\xa9'),
      filePart('photo', 'a.png', 'first'),
      part('name="tag"', '1'),
      part('name="tag"', '2'),
      filePart('page', 'b.png'),
      filePart('page', 'c.png'),
    );

    const { form } = (await (await postMultipart(body)).json()) as { form: unknown };

    expect(form).toEqual({
      title: 'café',
      photo: { name: 'a.png', type: 'image/png', text: 'first' },
      tag: ['1', '2'],
      page: ['b.png', 'c.png'].map((name) => ({ name, type: 'image/png', text: 'content' })),
    });
  });

  test('has its files in a folder that only this user can read, until the response was sent', async () => {
    const modes: number[] = [];
    const app = createApp().use(forms({ multipart }), (ctx) => {
      const paths = onDisk().map((path) => join(folder, String(path)));
      modes.push(...paths.map((path) => statSync(path).mode & 0o777));
      ctx.send('');
    });
    const headers = { 'Content-Type': MULTIPART_TYPE };

    await request(app, '/', { method: 'POST', headers, body: formOf(filePart('a', 'a.png')) });

    expect(modes).toEqual([0o700, 0o600]);
  });

  test.each([
    ['../../etc/passwd', 'passwd'],
    ['..\\..\\x.png', 'x.png'],
    ['C:\\photos\\x.png', 'x.png'],
    ['/etc/passwd', 'passwd'],
    ['..', ''],
    ['a\tb.png', 'ab.png'],
    ['caf\xc3\xa9.png', 'café.png'],
    ['x'.repeat(1_000), 'x'.repeat(255)],
  ])('with the file name %j has a file with the name %j', async (filename, expected) => {
    const response = await postMultipart(formOf(filePart('a', filename)));

    const { form, files } = (await response.json()) as { form: Form; files: string[] };
    expect(form.a).toMatchObject({ name: expected, text: 'content' });
    expect(files.slice(1)).toEqual([`${files[0]}/0`]);
  });

  test('ignores a file input without a selected file', async () => {
    const response = await postMultipart(formOf(filePart('a', '', ''), part('name="b"', '1')));

    expect(await response.json()).toMatchObject({ form: { b: '1' } });
  });

  test.each([
    ['at all limits', { totalLimit: 1_000, fileLimit: 7, maxFiles: 2 }, 200],
    ['over totalLimit', { totalLimit: 100 }, 413],
    ['over fileLimit', { fileLimit: 6 }, 413],
    ['over maxFiles', { maxFiles: 1 }, 413],
  ])('%s gets %#: %j', async (_, options, status) => {
    const body = formOf(filePart('a', 'a.png'), filePart('b', 'b.png'));

    expect((await postMultipart(body, options)).status).toBe(status);
  });

  test.each([
    ['fields', { maxFields: 1 }, 1],
    ['bytes of fields', { limit: 8 }, 8],
  ])('with too many %s gets 413', async (what, options, limit) => {
    const body = formOf(part('name="a"', '1234'), part('name="b"', '1234'));

    const response = await post(body, MULTIPART_TYPE, { multipart, ...options });

    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({
      detail: `The number of ${what} must not exceed ${limit}`,
    });
  });

  test('without a Content-Length is limited too', async () => {
    const { port } = await start({ multipart: { ...multipart, totalLimit: 1_000 } });
    const client = openConnection(port).send(
      `POST / HTTP/1.1\r\nHost: a\r\nContent-Type: ${MULTIPART_TYPE}\r\nTransfer-Encoding: chunked\r\n\r\n`,
    );
    client.send(`7d0\r\n${filePart('a', 'a.png', 'x'.repeat(2_000)).slice(0, 2_000)}\r\n`);

    expect(await client.read(/^HTTP[^}]*\}$/)).toContain('413 Content Too Large');
    client.close();
  });

  test('gets 100 Continue before its body, unless it is too large', async () => {
    const { port } = await start({ multipart: { ...multipart, totalLimit: 1_000 } });
    const head = `POST / HTTP/1.1\r\nHost: a\r\nContent-Type: ${MULTIPART_TYPE}\r\nExpect: 100-continue\r\n`;
    const small = openConnection(port).send(`${head}Content-Length: 999\r\n\r\n`);
    const large = openConnection(port).send(`${head}Content-Length: 1001\r\n\r\n`);

    expect(await small.read(/\r\n\r\n/)).toContain('100 Continue');
    expect(await large.read(/\r\n\r\n/)).toMatch(/^HTTP\/1.1 413 /);
    small.close();
    large.close();
  });
});

async function start(
  options: FormsOptions,
  listenOptions: Partial<ListenOptions> = {},
): Promise<ListeningServer & { readonly failures: readonly unknown[] }> {
  const { app, failures } = createEcho(options);
  const server = await listen(app, { port: 0, ...listenOptions });
  onTestFinished(() => server.close({ timeoutMs: 1 }));
  return { ...server, failures };
}

describe('a hostile body', () => {
  test.each(HOSTILE_BODIES)(
    'with $title gets 400 or 413, leaves no file and keeps the connection usable',
    async ({ type = MULTIPART_TYPE, body }) => {
      const { port, failures } = await start({ multipart });
      const head = `Host: a\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}`;
      const client = openConnection(port);

      client.send(`POST / HTTP/1.1\r\n${head}\r\n\r\n${body}`);
      const rejected = await client.read(/\}$/);
      client.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
      const both = await client.read(/\}.*\}$/s);

      expect(rejected).toMatch(/^HTTP\/1.1 (?:400|413) /);
      expect(both).toContain('HTTP/1.1 200 OK');
      expect(failures).toEqual([]);
      client.close();
    },
  );

  const PHOTO = filePart('photo', 'a.png');

  test.each([
    [
      'an unterminated file of 1 MB after the last boundary',
      `${formOf()}${PHOTO}${filePart('b', 'b', 'b'.repeat(1e6))}`,
      400,
    ],
    ['an unterminated file as the epilogue', `${formOf()}${PHOTO.slice(0, -2)}`, 200],
    ['part of a boundary', `${PHOTO}--${BOUNDARY}`, 400],
    ['half of the last boundary', `${PHOTO}--${BOUNDARY}-`, 400],
    ['a boundary and a line end', `${PHOTO}--${BOUNDARY}\r`, 400],
    ['no part', 'x', 400],
    ['a part without headers', `--${BOUNDARY}\r\n\r\ncontent\r\n--${BOUNDARY}--`, 400],
    ['text before the first boundary', `preamble\r\n${formOf(PHOTO)}`, 200],
    ['1 MB before the first boundary', `${'p'.repeat(1e6)}\r\n${formOf(PHOTO)}`, 200],
    ['1 MB after the last boundary', `${formOf(PHOTO)}${'e'.repeat(1e6)}`, 200],
    ['no line end after the last boundary', formOf(PHOTO).slice(0, -2), 200],
    ['a file of 1 MB', formOf(filePart('b', 'b', 'b'.repeat(1e6))), 200],
    [
      'a nested form',
      formOf(
        part(
          'name="a"',
          formOf(PHOTO).replaceAll(BOUNDARY, 'inner'),
          'Content-Type: multipart/mixed; boundary=inner\r\n',
        ),
      ),
      200,
    ],
  ])('or unusual one with %s gets a response', async (_, body, status) => {
    const response = await postMultipart(body);

    expect(response.status).toBe(status);
  });

  test.each([
    ['application/json', '{}'],
    ['text/plain', 'a=1'],
    ['multipart/mixed; boundary=x', '--x--'],
    [`${URLENCODED}; charset=utf-16`, 'a=1'],
    [`${MULTIPART_TYPE}; charset=utf-7`, formOf()],
    ['', 'a=1'],
  ])('of the type "%s" gets 415', async (type, body) => {
    const response = await post(body, type, { multipart });

    expect(response.status).toBe(415);
    expect(response.headers.get('accept')).toBe(`${URLENCODED}, multipart/form-data`);
  });

  test('with a content coding gets 415', async () => {
    const headers = { 'Content-Type': URLENCODED, 'Content-Encoding': 'gzip' };

    const { status } = await request(createEcho().app, '/', { method: 'POST', headers, body: 'a' });

    expect(status).toBe(415);
  });

  test('in another charset than it declares is text, not an error', async () => {
    const utf7 = part('name="a"', '+AGE-', 'Content-Type: text/plain; charset=utf-7\r\n');
    const utf16 = part('name="b"', '\xff\xfea\0', 'Content-Type: text/plain; charset=utf-16\r\n');

    const response = await postMultipart(formOf(utf7, utf16));

    expect(response.status).toBe(200);
  });

  test.each([
    ['disconnects', {}, true],
    ['is slower than the request time-out', { headersTimeoutMs: 50, requestTimeoutMs: 100 }, false],
  ])('of a client that %s leaves no file and logs nothing', async (_, timeouts, disconnects) => {
    const { port, failures } = await start({ multipart }, timeouts);
    const client = openConnection(port);
    client.send(
      `POST / HTTP/1.1\r\nHost: a\r\nContent-Type: ${MULTIPART_TYPE}\r\nContent-Length: 9999\r\n\r\n${filePart('a', 'a.png').slice(0, -4)}`,
    );
    await vi.waitFor(() => expect(onDisk()).toHaveLength(2));

    if (disconnects) client.close();
    else await client.readAll();

    await expectNoFiles();
    expect(failures).toEqual([]);
  });

  test('that is longer than its Content-Length gets 400, and the connection is closed', async () => {
    const { port } = await start({ multipart });
    const body = formOf(filePart('a', 'a.png'));
    const client = openConnection(port);

    client.send(
      `POST / HTTP/1.1\r\nHost: a\r\nContent-Type: ${MULTIPART_TYPE}\r\nContent-Length: ${body.length - 5}\r\n\r\n${body}`,
    );

    expect(await client.readAll()).toMatch(/^HTTP\/1.1 400 .*Connection: close/s);
    client.close();
  });

  test('in small pieces is the same form', async () => {
    const { port } = await start({ multipart });
    const body = formOf(filePart('a', 'a.png'), part('name="b"', '1'));
    const client = openConnection(port);
    client.send(
      `POST / HTTP/1.1\r\nHost: a\r\nContent-Type: ${MULTIPART_TYPE}\r\nContent-Length: ${body.length}\r\n\r\n`,
    );

    for (const byte of body) {
      client.send(byte);
      await new Promise((resolve) => setImmediate(resolve));
    }

    expect(await client.read(/\}$/)).toContain('"b":"1"');
    client.close();
  });
});

describe('an upload that is slower than timeout()', () => {
  const HEAD = `POST / HTTP/1.1\r\nHost: a\r\nContent-Type: ${MULTIPART_TYPE}\r\nContent-Length: 2000000\r\n\r\n`;
  const BEGUN = `${filePart('a', 'a.png')}${filePart('b', 'b.png', 'b'.repeat(100_000)).slice(0, -2)}`;
  const REST = `\r\n${filePart('c', 'c.png')}${filePart('d', 'd.png').slice(0, -2)}`;

  async function startSlow(before: Middleware = (_, next) => next()) {
    const app = createApp({ logger: { info() {}, warn() {}, error() {} } })
      .use(timeout(50), before, forms({ multipart }))
      .use((ctx) => ctx.json({}));
    const server = await listen(app, 0);
    onTestFinished(() => server.close({ timeoutMs: 1 }));
    return server.port;
  }

  test.each([
    ['before its first file', '', BEGUN + REST],
    ['between two files', filePart('a', 'a.png'), BEGUN + REST],
    ['within a file', BEGUN, REST],
  ])('leaves no file if the time ends %s', async (_, first, rest) => {
    const client = openConnection(await startSlow()).send(HEAD + first);

    await client.read(/^HTTP\/1.1 503 /);
    await expectNoFiles();
    client.send(rest);
    await sleep(50);

    expect(onDisk()).toEqual([]);
    client.close();
    await expectNoFiles();
  });

  test('leaves no file if forms() runs after the response', async () => {
    const begun = Promise.withResolvers<void>();
    const port = await startSlow(async (_, next) => {
      await begun.promise;
      return next();
    });
    const client = openConnection(port).send(HEAD + BEGUN);

    await client.read(/^HTTP\/1.1 503 /);
    begun.resolve();
    client.send(REST);
    await sleep(50);

    expect(onDisk()).toEqual([]);
    client.close();
  });
});

test('an upload whose client disconnects leaves no file', async () => {
  const { port } = await start({ multipart });
  const client = openConnection(port).send(
    `POST / HTTP/1.1\r\nHost: a\r\nContent-Type: ${MULTIPART_TYPE}\r\nContent-Length: 200000\r\n\r\n${filePart('a', 'a.png')}${filePart('b', 'b.png').slice(0, -2)}`,
  );
  await vi.waitFor(() => expect(onDisk()).toHaveLength(3));

  client.close();

  await expectNoFiles();
});

test('the files are deleted if the handler throws', async () => {
  const seen: unknown[] = [];
  const app = createApp({ logger: { info() {}, warn() {}, error() {} } })
    .use(forms({ multipart }))
    .use(() => {
      seen.push(...onDisk());
      throw new Error('broken');
    });
  const headers = { 'Content-Type': MULTIPART_TYPE };

  await request(app, '/', { method: 'POST', headers, body: formOf(filePart('a', 'a.png')) });

  expect(seen).toHaveLength(2);
});

test('an empty body that another parser has read is an empty form', async () => {
  const app = createApp().use(
    async (ctx, next) => {
      await ctx.raw.req.toArray();
      await next();
    },
    forms(),
    (ctx) => ctx.json(ctx.body),
  );

  const response = await request(app, '/', {
    method: 'POST',
    headers: { 'Transfer-Encoding': 'chunked' },
  });

  expect(await response.json()).toEqual({});
});

test('a request without a body has an empty form', async () => {
  expect(await (await request(createEcho().app, '/')).json()).toMatchObject({ form: {} });
});

test('validate() checks a form, and the document describes its media types', async () => {
  const schema = z.object({ title: z.string().max(3), photo: z.file() });
  const router = createRouter().post(
    '/',
    forms({ multipart }),
    validate({ body: schema }),
    async (ctx) => `${ctx.body.title}: ${await ctx.body.photo.text()}`,
  );
  const app = createApp().route('/', router);
  const send = (title: string) =>
    request(app, '/', {
      method: 'POST',
      headers: { 'Content-Type': MULTIPART_TYPE },
      body: formOf(part('name="title"', title), filePart('photo', 'a.png')),
    });

  expect(await (await send('abc')).text()).toBe('abc: content');
  expect((await send('abcd')).status).toBe(400);
  const { paths } = await generateDocument(router.getRoutes(), {});
  expect(JSON.parse(JSON.stringify(paths))['/'].post.requestBody.content).toMatchObject({
    'multipart/form-data': { schema: { properties: { photo: { format: 'binary' } } } },
    [URLENCODED]: {},
  });
});

test('a router types ctx.body as a form and documents its media types', () => {
  const router = createRouter().post('/', forms({ multipart, limit: 10 }), (ctx) => {
    expectTypeOf(ctx.body).toEqualTypeOf<Form>();
  });

  expect(router.getRoutes()[0]?.metadata.body).toEqual({
    mediaTypes: [URLENCODED, 'multipart/form-data'],
    limit: 20 * 1024 ** 2,
  });
});

test('multipart without busboy is rejected in one line', async () => {
  const program = `
    import { registerHooks } from 'node:module';
    registerHooks({
      resolve(name, context, next) {
        if (name === 'busboy') throw Object.assign(new Error(), { code: 'MODULE_NOT_FOUND' });
        return next(name, context);
      },
    });
    const { forms } = await import(${JSON.stringify(join(import.meta.dirname, 'forms.ts'))});
    forms();
    try { forms({ multipart: {} }) } catch (error) { console.log(error.message) }`;

  const { stdout } = await promisify(execFile)(process.execPath, [
    '--input-type=module',
    '--eval',
    program,
  ]);

  expect(stdout).toBe('Cannot parse multipart forms: install the package "busboy"\n');
});

test('the boundary of the tests is not part of any content', () => {
  expect(HOSTILE_BODIES.filter(({ body }) => !body.includes(BOUNDARY))).toEqual([]);
});
