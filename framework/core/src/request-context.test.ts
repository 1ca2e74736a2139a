import { Readable, Writable } from 'node:stream';
import { describe, expect, test } from 'vitest';

import { createApp } from './application.ts';
import type { Context } from './context.ts';
import { quiet, recordLog, request } from './testing/index.ts';

describe('ctx.redirect', () => {
  test.each([
    ['/日', '/%E6%97%A5'],
    ['/é', '/%C3%A9'],
    ['/😀', '/%F0%9F%98%80'],
    ['/\u212a\u017f', '/%E2%84%AA%C5%BF'], // equal to "k" and "s" where case is ignored
    ['/\ud800', '/%EF%BF%BD'],
    ['/a b"<>`{}|\\^', '/a%20b%22%3C%3E%60%7B%7D%7C%5C%5E'],
    ['/a\r\nSet-Cookie: a=b\0', '/a%0D%0ASet-Cookie:%20a=b%00'],
    ['/a%20b%2Fc', '/a%20b%2Fc'],
    ['/100%', '/100%25'],
    ['/%zz%4', '/%25zz%254'],
    ['https://[::1]:8080/a?b=c&d[]=e#f', 'https://[::1]:8080/a?b=c&d[]=e#f'],
    ["/-._~!$&'()*+,;=:@", "/-._~!$&'()*+,;=:@"],
    ['', ''],
  ])('to %j sends Location: %s', async (url, location) => {
    const app = createApp({ logger: quiet }).use((ctx) => ctx.redirect(url));

    const response = await request(app, '/');

    expect(response.status).toBe(302);
    expect(response.headers.get('location')).toBe(location);
    expect(response.headers.getSetCookie()).toEqual([]);
  });
});

/** An application that sends `body`, and its logged errors. */
function sending(body: unknown, prepare: (ctx: Context) => void = () => {}) {
  const { logger, errors } = recordLog();
  const app = createApp({ logger }).use((ctx) => {
    prepare(ctx);
    ctx.send(body as string);
  });
  return { app, errors };
}

/** A web stream of `chunks`. */
function webStream(...chunks: readonly unknown[]): ReadableStream {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
}

describe('ctx.send', () => {
  test.each([
    [0, 204],
    [202, 202],
  ])('of null sends an empty body; with the status %i it has %i', async (assigned, status) => {
    const { app } = sending(null, (ctx) => {
      if (assigned) ctx.status = assigned;
    });

    const response = await request(app, '/');

    expect(response.status).toBe(status);
    expect(response.headers.get('content-type')).toBeNull();
    expect(await response.text()).toBe('');
  });

  test.each<readonly [string, () => unknown, string, string]>([
    ['a web stream', () => webStream(Buffer.from('a'), 'é'), 'application/octet-stream', 'aé'],
    ['an empty web stream', () => webStream(), 'application/octet-stream', ''],
    ['a Blob', () => new Blob(['a', 'é']), 'application/octet-stream', 'aé'],
    ['a Blob with a type', () => new Blob(['a,b'], { type: 'text/csv' }), 'text/csv', 'a,b'],
    ['an empty Blob', () => new Blob([]), 'application/octet-stream', ''],
    ['a File', () => new File(['<p>'], 'a.html', { type: 'text/html' }), 'text/html', '<p>'],
  ])('of %s sends its content', async (_, body, type, text) => {
    const response = await request(sending(body()).app, '/');

    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe(type);
    expect(await response.text()).toBe(text);
  });

  test.each([
    ['é', '2'],
    ['', '0'],
  ])('of a Blob of %j sends its length, also for HEAD', async (text, length) => {
    const { app } = sending(new Blob([text]));

    const [get, head] = await Promise.all([
      request(app, '/'),
      request(app, '/', { method: 'HEAD' }),
    ]);

    expect(get.headers.get('content-length')).toBe(length);
    expect(head.headers.get('content-length')).toBe(length);
  });

  test('of a Blob keeps an assigned Content-Type', async () => {
    const { app } = sending(new Blob(['a'], { type: 'text/csv' }), (ctx) => {
      ctx.set('Content-Type', 'text/plain');
    });

    expect((await request(app, '/')).headers.get('content-type')).toBe('text/plain');
  });

  test.each<readonly [string, () => unknown]>([
    ['undefined', () => undefined],
    ['ArrayBuffer', () => new ArrayBuffer(2)],
    ['Uint16Array', () => new Uint16Array(2)],
    ['DataView', () => new DataView(new ArrayBuffer(2))],
    ['Object', () => ({ a: 1 })],
    ['object', () => Object.create(null)],
    ['Array', () => ['a']],
    ['Writable', () => new Writable()],
    ['number', () => 7],
    ['function', () => () => {}],
  ])('of %s is a 500 that names the type in the log', async (name, body) => {
    const { app, errors } = sending(body());

    const response = await request(app, '/');

    expect(response.status).toBe(500);
    expect(await response.json()).toMatchObject({ detail: 'Internal Server Error' });
    expect(errors.map(String)).toEqual([
      `TypeError: Cannot send a body of type ${name}: expected a string, a Uint8Array, a Blob, a stream or null`,
    ]);
  });

  test('of a locked web stream is a 500', async () => {
    const stream = webStream('a');
    stream.getReader();

    expect((await request(sending(stream).app, '/')).status).toBe(500);
  });

  test('after another response destroys its stream', async () => {
    const stream = new Readable({ read() {} });
    const { app } = sending(stream, (ctx) => ctx.json(1));

    const response = await request(app, '/');

    expect(response.status).toBe(500);
    expect(stream.destroyed).toBe(true);
  });
});
