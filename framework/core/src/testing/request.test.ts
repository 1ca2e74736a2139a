import { once } from 'node:events';
import { json } from '@fw/body-parser';
import { quiet } from '@fw/core/testing';
import { forms } from '@fw/middleware/forms';
import { sse } from '@fw/middleware/sse';
import { expect, test } from 'vitest';

import { createApp } from '../application.ts';
import { request } from './request.ts';

test('request() resolves for an event stream, whose parts are read one by one until it is cancelled', async () => {
  const ended = Promise.withResolvers<void>();
  let sent = 0;
  const app = createApp({ logger: quiet }).get(
    '/',
    sse(async function* (_ctx, { signal }) {
      signal.addEventListener('abort', () => ended.resolve());
      for (;;) yield { data: ++sent };
    }),
  );

  const response = await request(app, '/');
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  while (!text.includes('data: 2\n\n')) text += (await reader.read()).value;
  await reader.cancel();
  await ended.promise;

  expect(response.headers.get('content-type')).toBe('text/event-stream');
  expect(text).toMatch(/^:\n\ndata: 1\n\ndata: 2\n\n/);
});

test('a stream that fails halfway rejects when its body is read', async () => {
  const app = createApp({ logger: quiet }).get('/', (ctx) => {
    const stream = new ReadableStream({
      async pull(controller) {
        controller.enqueue('first');
        await once(AbortSignal.timeout(1), 'abort');
        controller.error(new Error('no'));
      },
    });
    return ctx.send(stream);
  });

  const response = await request(app, '/');

  expect(response.status).toBe(200);
  await expect(response.text()).rejects.toThrow();
});

const fields = new FormData();
fields.set('name', 'Ada');

test.each([
  ['FormData', fields],
  ['URLSearchParams', new URLSearchParams({ name: 'Ada' })],
])('request() sends %s', async (_, body) => {
  const app = createApp({ logger: quiet })
    .use(forms({ multipart: {} }))
    .post('/', (ctx) => ctx.body);

  const response = await request(app, '/', { method: 'POST', body });

  expect(await response.json()).toEqual({ name: 'Ada' });
});

test.each([
  [{}, 'application/json'],
  [{ 'content-type': 'application/merge-patch+json' }, 'application/merge-patch+json'],
])('request() sends JSON; with the headers %j its type is %s', async (headers, type) => {
  const app = createApp({ logger: quiet })
    .use(json())
    .post('/', (ctx) => ({ type: ctx.get('content-type'), body: ctx.body }));

  const response = await request(app, '/', { method: 'POST', headers, json: { name: 'Ada' } });

  expect(await response.json()).toEqual({ type, body: { name: 'Ada' } });
});

test.each([
  [{ body: { a: 1 } }, 'Cannot read option body "{ a: 1 }" of request(): expected a string'],
  [{ body: 'a', json: 1 }, 'Cannot read option body "a" of request(): expected no body'],
  [{ metod: 'POST' }, 'request() has no option "metod"; did you mean "method"?'],
])('request() rejects the options %j', async (options, message) => {
  await expect(request(createApp(), '/', options as object)).rejects.toThrow(message);
});
