import { mkdtempSync, readdirSync, realpathSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Application,
  createApp,
  createRouter,
  type ListenOptions,
  type Middleware,
} from '@fw/core';
import { openConnection, quiet, recordLog, request } from '@fw/core/testing';
import { generateDocument } from '@fw/openapi';
import { validate } from '@fw/validation';
import { afterAll, afterEach, describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { serve } from '../../../core/src/testing/vitest.ts';
import { timeout } from '../timeout.ts';
import { type Form, type FormsOptions, forms } from './forms.ts';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'forms-')));
afterAll(() => rmSync(folder, { recursive: true }));
const multipart = { folder };
const URLENCODED = 'application/x-www-form-urlencoded';
const BYTES = 'application/octet-stream';
const BOUNDARY = 'X-BOUNDARY';
const MULTIPART_TYPE = `multipart/form-data; boundary=${BOUNDARY}`;

/** A part of a form as it is sent; each character is a byte. */
function part(disposition: string, content = '', headers = ''): string {
  return `--${BOUNDARY}\r\nContent-Disposition: form-data; ${disposition}\r\n${headers}\r\n${content}\r\n`;
}

/** A file as it is sent. Browsers send one without a name and content if no file is selected. */
function filePart(name: string, filename: string, content = 'content', type = 'image/png'): string {
  return part(`name="${name}"; filename="${filename}"`, content, `Content-Type: ${type}\r\n`);
}

/** A field with a `Content-Type`. */
function field(type: string, content: string): string {
  return part('name="a"', content, `Content-Type: ${type}\r\n`);
}

/** A complete body. */
function formOf(...parts: readonly string[]): string {
  return `${parts.join('')}--${BOUNDARY}--\r\n`;
}

/** The head of a multipart request, with further fields. */
function headOf(...fields: readonly string[]): string {
  const lines = ['POST / HTTP/1.1', 'Host: a', `Content-Type: ${MULTIPART_TYPE}`, ...fields];
  return `${lines.join('\r\n')}\r\n\r\n`;
}

/** An application that responds with the parsed form, and the files that exist while it runs. */
function createEcho(options: FormsOptions = {}) {
  const { logger, problems } = recordLog();
  const app = createApp({ logger })
    .use(forms(options))
    .use(async (ctx) => ctx.json({ form: await describeForm(ctx.body as Form), files: onDisk() }));
  return { app, problems };
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

const expectNoFiles = () => expect.poll(() => onDisk()).toEqual([]);
afterEach(expectNoFiles);

describe('a urlencoded form', () => {
  test.each([
    ['a=1&b=2', { a: '1', b: '2' }],
    ['a+b=c%20d%C3%A9', { 'a b': 'c dé' }],
    ['\xef\xbb\xbfa=1', { a: '1' }],
    ['constructor=1&toString=2', { constructor: '1', toString: '2' }],
  ])('%s becomes %j', async (body, expected) => {
    expect(await (await post(body)).json()).toMatchObject({ form: expected });
  });

  test.each([
    ['a malformed escape', 'a=%zz', 400, 'form'],
    [
      'the field __proto__',
      '__proto__=1&__proto__=2',
      400,
      'The form must not have the field "__proto__"',
    ],
    ['invalid UTF-8', 'a=\xff', 400, 'The form must be UTF-8'],
    ['escapes of invalid UTF-8', 'a=%ff', 400, 'form'],
    ['another charset in _charset_', '_charset_=Shift_JIS&a=1', 415, 'The charset of the form'],
    ['more fields than maxFields', 'a=1&b=2&c=3', 413, 'The number of fields must not exceed 2'],
    ['more bytes than limit', `a=${'x'.repeat(100)}`, 413, '50'],
  ])('with %s is rejected', async (_, body, status, detail) => {
    const response = await post(body, URLENCODED, { limit: 50, maxFields: 2 });

    expect(response.status).toBe(status);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(await response.json()).toMatchObject({ detail: expect.stringContaining(detail) });
  });

  test.each([
    ['charset=UTF-8', 'Identity', 200],
    ['charset=xutf-8', 'identity', 415],
    ['charset=utf-8', 'x-identity', 415],
  ])('with %s and Content-Encoding: %s gets %i', async (charset, coding, status) => {
    const headers = { 'Content-Type': `${URLENCODED}; ${charset}`, 'Content-Encoding': coding };

    const response = await request(createEcho().app, '/', { method: 'POST', headers, body: 'a=1' });

    expect(response.status).toBe(status);
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
    ['C:\\photos\\x.png', 'x.png'],
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
    const response = await postMultipart(
      formOf(filePart('a', '', '', BYTES), part('name="b"', '1')),
    );

    expect(await response.json()).toHaveProperty('form', { b: '1' });
  });

  test.each([
    ['an empty file with a name', 'a.txt', ''],
    ['content without a file name', '', 'content'],
  ])('keeps %s', async (_, name, text) => {
    const response = await postMultipart(formOf(filePart('a', name, text, BYTES)));

    expect(await response.json()).toMatchObject({ form: { a: { name, text } } });
  });

  test.each<readonly [string, string, object]>([
    ['a charset in capitals', field('text/plain; charset="UTF-8"', 'caf\xc3\xa9'), { a: 'café' }],
    ['ASCII', field('text/plain; charset=us-ascii', '1'), { a: '1' }],
    ['an empty type', field('', '1'), { a: '1' }],
    ['8bit', part('name="a"', '1', 'Content-Transfer-Encoding: 8bit\r\n'), { a: '1' }],
    ['names that are tokens', part('NAME=a', '1').toUpperCase(), { A: '1' }],
    ['names as browsers encode them', part('name="%22%0D%0A\\%41"', '1'), { '"\r\n\\%41': '1' }],
    ['an escaped quote', part('name="a\\"b"', '1'), { 'a"b': '1' }],
    ['two backslashes', part('name="a\\\\"', '1'), { 'a\\\\': '1' }],
    ['a semicolon in a name', part('name="a; filename=b"', '1'), { 'a; filename=b': '1' }],
    ['a name with an encoded form', part(`name="x"; name*=utf-8''caf%C3%A9`, '1'), { café: '1' }],
    ['an empty field', part('name="a"'), { a: '' }],
  ])('may have %s', async (_, one, form) => {
    const response = await postMultipart(formOf(one, part('name="last"', '2')));

    expect(await response.json()).toMatchObject({ form: { ...form, last: '2' } });
  });

  test.each([' ', '\t', ' \t '])('may have the padding %j after boundaries', async (padding) => {
    const body = formOf(part('name="a"', '1'), part('name="b"', '2'));

    const response = await postMultipart(
      body.replaceAll(/(X-BOUNDARY(?:--)?)\r/g, `$1${padding}\r`),
    );
    const withoutEnd = await postMultipart(`${body.slice(0, -2)}${padding}`);

    expect(await response.json()).toMatchObject({ form: { a: '1', b: '2' } });
    expect(await withoutEnd.json()).toMatchObject({ form: { a: '1', b: '2' } });
  });

  test.each([
    [`name="a"; filename="%22%0D%0A.png"`, '".png'],
    [`name="a"; filename="a\\"b.png"`, 'a"b.png'],
    [`name="a"; filename*=UTF-8'en'caf%C3%A9.png`, 'café.png'],
    [`name="a"; filename="x.png"; filename*=utf-8''y.png`, 'y.png'],
    ['name="a"; filename=x.png', 'x.png'],
  ])('with the disposition %j has a file with the name %j', async (disposition, name) => {
    const response = await postMultipart(formOf(part(disposition, 'content')));

    expect(await response.json()).toMatchObject({ form: { a: { name, text: 'content' } } });
  });

  const TWO_FILES = formOf(filePart('a', 'a.png'), filePart('b', 'b.png'));
  const TWO_FIELDS = formOf(part('name="a"', '1234'), part('name="b"', '1234'));

  test.each([
    ['files', TWO_FILES, { totalLimit: TWO_FILES.length, fileLimit: 7, maxFiles: 2 }, {}],
    ['fields', TWO_FIELDS, {}, { limit: 10, maxFields: 2 }],
  ])('at all limits of %s gets 200', async (_, body, files, fields) => {
    const options = { ...fields, multipart: { ...multipart, ...files } };

    expect((await post(body, MULTIPART_TYPE, options)).status).toBe(200);
  });

  const LENGTH = TWO_FILES.length - 1;

  test.each([
    ['The number of fields must not exceed 1', TWO_FIELDS, { maxFields: 1 }, {}],
    ['The number of bytes of fields must not exceed 9', TWO_FIELDS, { limit: 9 }, {}],
    ['The number of files must not exceed 1', TWO_FILES, {}, { maxFiles: 1 }],
    ['The number of bytes per file must not exceed 6', TWO_FILES, {}, { fileLimit: 6 }],
    [`The body must have at most ${LENGTH} bytes`, TWO_FILES, {}, { totalLimit: LENGTH }],
  ])('over a limit gets 413 with "%s"', async (detail, body, fields, files) => {
    const options = { ...fields, multipart: { ...multipart, ...files } };

    const response = await post(body, MULTIPART_TYPE, options);

    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({ detail });
  });

  test('without a Content-Length is limited too', async () => {
    const { open } = await start({ multipart: { ...multipart, totalLimit: 1_000 } });
    const client = open(headOf('Transfer-Encoding: chunked'));
    client.send(`7d0\r\n${filePart('a', 'a.png', 'x'.repeat(2_000)).slice(0, 2_000)}\r\n`);

    expect(await client.read(/^HTTP[^}]*\}$/)).toContain('413 Content Too Large');
    client.close();
  });

  test('gets 100 Continue before its body, unless it is too large', async () => {
    const { open } = await start({ multipart: { ...multipart, totalLimit: 1_000 } });
    const announce = (length: number) =>
      open(headOf('Expect: 100-continue', `Content-Length: ${length}`));

    const [small, large] = [announce(999), announce(1_001)];

    expect(await small.read(/\r\n\r\n/)).toContain('100 Continue');
    expect(await large.read(/\r\n\r\n/)).toMatch(/^HTTP\/1.1 413 /);
    small.close();
    large.close();
  });
});

/** Serves `app`; the returned function opens a connection and sends these bytes. */
async function opener(app: Application, options?: Partial<ListenOptions>) {
  const { port } = await serve(app, options);
  return (bytes: string) => openConnection(port).send(bytes);
}

async function start(options: FormsOptions, listenOptions: Partial<ListenOptions> = {}) {
  const { app, problems } = createEcho(options);
  return { open: await opener(app, listenOptions), problems };
}

describe('a hostile body', () => {
  const PHOTO = filePart('photo', 'a.png');
  const OPEN = filePart('b', 'b.png').slice(0, -2); // a file without an end
  const MEGABYTE = 'b'.repeat(1_000_000);
  const INNER = formOf(PHOTO).replaceAll(BOUNDARY, 'inner');

  test.each<readonly [string, string, number]>([
    ['another boundary than in `Content-Type`', formOf(PHOTO).replaceAll(BOUNDARY, 'other'), 400],
    ['an unterminated file', `${PHOTO}${OPEN.slice(0, -2)}`, 400],
    [
      'an unterminated file of 1 MB after the last boundary',
      `${formOf()}${PHOTO}${filePart('b', 'b', MEGABYTE)}`,
      400,
    ],
    ['1 MB of headers', formOf(PHOTO, part('name="b"', 'b', `X: ${MEGABYTE}\r\n`)), 400],
    ['10,000 parts', formOf(PHOTO, ...Array(10_000).fill(part('name="a"', '1'))), 413],
    ['10,000 files', formOf(...Array(10_000).fill(PHOTO)), 413],
    ['the field `__proto__`', formOf(PHOTO, part('name="__proto__"', '1')), 400],
    ['a part without headers', `--${BOUNDARY}\r\n\r\ncontent\r\n--${BOUNDARY}--`, 400],
    ['text before the first boundary', `preamble\r\n${formOf(PHOTO)}`, 200],
    ['1 MB before the first boundary', `${MEGABYTE}\r\n${formOf(PHOTO)}`, 200],
    ['1 MB after the last boundary', `${formOf(PHOTO)}${MEGABYTE}`, 200],
    ['no line end after the last boundary', formOf(PHOTO).slice(0, -2), 200],
    ['a file of 1 MB', formOf(filePart('b', 'b', MEGABYTE)), 200],
    ['a nested form', formOf(field('multipart/mixed; boundary=inner', INNER)), 200],
  ])('with %s leaves no file and keeps the connection usable', async (_, body, status) => {
    const { open, problems } = await start({ multipart });

    const client = open(headOf(`Content-Length: ${body.length}`) + body);
    const response = await client.read(/\}$/);
    client.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await client.read(/HTTP\/1\.1 \d{3} .*HTTP\/1\.1 200 OK.*\}$/s);

    expect(response).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(problems).toEqual([]);
    client.close();
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
    expect(await response.json()).toMatchObject({
      detail: `The body must be a form in UTF-8: ${URLENCODED}, multipart/form-data`,
    });
  });

  test.each<readonly [what: string, body: string, status: number]>([
    ['a field in Shift_JIS', field('text/plain; charset=shift_jis', '\x83\x65'), 415],
    ['a JSON field in UTF-16', field('application/json; charset=utf-16', '1'), 415],
    ['a field in Base64', part('name="a"', 'YQ==', 'Content-Transfer-Encoding: base64\r\n'), 415],
    ['another charset in _charset_', part('name="_charset_"', 'shift_jis'), 415],
    ['a name in Shift_JIS', part("name*=shift_jis''%83%65", '1'), 415],
    ['a file name in Shift_JIS', part(`name="a"; filename*=shift_jis''%83%65`, '1'), 415],
    ['a file name that is not UTF-8', part('name="a"; filename="\xe9"', '1'), 400],
    ['an encoded file name that is not UTF-8', part(`name="a"; filename*=utf-8''%e9`, '1'), 400],
    ['an encoded file name without a charset', part('name="a"; filename*=a', '1'), 400],
    ['a malformed escape', part(`name="a"; filename*=utf-8''%zz`, '1'), 400],
    ['a field that is not UTF-8', part('name="a"', '\xff'), 400],
    ['no name', part('x="a"', '1'), 400],
    ['an empty name', part('name=""', '1'), 400],
    ['a file without a name', part('filename="a.png"', '1'), 400],
    ['two names', part('name="a"; name="b"', '1'), 400],
    ['two dispositions', part('name="a"', '1', 'Content-Disposition: form-data; name=b\r\n'), 400],
    ['another disposition', part('name="a"', '1').replace('form-data', 'attachment'), 400],
    ['a quote inside a name', part('name="a"b"', '1'), 400],
    ['a name without an end', part('name="a', '1'), 400],
    ['a header without a colon', part('name="a"', '1', 'X\r\n'), 400],
    ['a folded header', part('name="a"', '1', 'X: a\r\n b\r\n'), 400],
    ['a bare line feed in a header', part('name="a"', '1', 'X: a\nY: b\r\n'), 400],
    ['a malformed type', part('name="a"', '1', 'Content-Type: image\r\n'), 400],
    ['a name of 16,384 backslashes', part(`name="${'\\'.repeat(16_300)}`, '1'), 400],
  ])('with %s is rejected after a part that is not', async (_, bad, status) => {
    const response = await postMultipart(formOf(part('name="first"', '1'), bad));

    expect(response.status).toBe(status);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
  });

  test.each([
    ['disconnects', {}, true],
    ['is slower than the request time-out', { headersTimeoutMs: 50, requestTimeoutMs: 100 }, false],
  ])('of a client that %s leaves no file and logs nothing', async (_, timeouts, disconnects) => {
    const { open, problems } = await start({ multipart }, timeouts);
    const client = open(headOf('Content-Length: 9999') + PHOTO + OPEN.slice(0, -2));
    await expect.poll(() => onDisk()).toHaveLength(3);

    if (disconnects) client.close();
    else await client.readAll();

    await expectNoFiles();
    expect(problems).toEqual([]);
  });

  test('that is longer than its Content-Length gets 400, and the connection is closed', async () => {
    const { open } = await start({ multipart });
    const body = formOf(filePart('a', 'a.png'));

    const client = open(`${headOf(`Content-Length: ${body.length - 5}`)}${body}`);

    expect(await client.readAll()).toMatch(/^HTTP\/1.1 400 .*Connection: close/s);
    client.close();
  });
});

describe('an upload that is slower than timeout()', () => {
  const HEAD = headOf('Content-Length: 2000000');
  const BEGUN = `${filePart('a', 'a.png')}${filePart('b', 'b.png', 'b'.repeat(100_000)).slice(0, -2)}`;
  const REST = `\r\n${filePart('c', 'c.png')}${filePart('d', 'd.png').slice(0, -2)}`;

  async function startSlow(before: Middleware = (_, next) => next()) {
    const app = createApp({ logger: quiet })
      .use(timeout(50), before, forms({ multipart }))
      .use((ctx) => ctx.json({}));
    return opener(app);
  }

  test.each([
    ['before its first file', '', BEGUN + REST],
    ['between two files', filePart('a', 'a.png'), BEGUN + REST],
    ['within a file', BEGUN, REST],
  ])('leaves no file if the time ends %s', async (_, first, rest) => {
    const client = (await startSlow())(HEAD + first);

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
    const open = await startSlow(async (_, next) => {
      await begun.promise;
      return next();
    });
    const client = open(HEAD + BEGUN);

    await client.read(/^HTTP\/1.1 503 /);
    begun.resolve();
    client.send(REST);
    await sleep(50);

    expect(onDisk()).toEqual([]);
    client.close();
  });
});

test('the files are deleted if the handler throws', async () => {
  const seen: unknown[] = [];
  const app = createApp({ logger: quiet })
    .use(forms({ multipart }))
    .use(() => {
      seen.push(...onDisk());
      throw new Error('broken');
    });
  const headers = { 'Content-Type': MULTIPART_TYPE };

  await request(app, '/', { method: 'POST', headers, body: formOf(filePart('a', 'a.png')) });

  expect(seen).toHaveLength(2);
});

test('a body that another middleware has parsed is kept', async () => {
  const app = createApp().use(
    (ctx, next) => {
      ctx.body = { parsed: true };
      return next();
    },
    forms(),
    (ctx) => ctx.json(ctx.body),
  );
  const headers = { 'Content-Type': URLENCODED };

  const response = await request(app, '/', { method: 'POST', headers, body: 'a=1' });

  expect(await response.json()).toEqual({ parsed: true });
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
    (ctx, next) => {
      expectTypeOf(ctx.body).toEqualTypeOf<Form>();
      return next();
    },
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
  expect(router.getRoutes()[0]?.metadata.body).toMatchObject({ limit: 20 * 1024 ** 2 });
  const { paths } = await generateDocument(router.getRoutes(), {});
  expect(JSON.parse(JSON.stringify(paths))['/'].post.requestBody.content).toMatchObject({
    'multipart/form-data': { schema: { properties: { photo: { format: 'binary' } } } },
    [URLENCODED]: {},
  });
});
