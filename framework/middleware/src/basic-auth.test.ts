import { createApp, createRouter } from '@fw/core';
import { request } from '@fw/core/testing';
import { errorHandler } from '@fw/errors';
import { expect, expectTypeOf, test } from 'vitest';

import { basicAuth } from './basic-auth.ts';

const USERS = { ada: 'correct horse', 'Grace Hopper': 'bättery:staple' };

/** Sends a request with an `Authorization` header to an application that returns the user. */
function newPage(users: Readonly<Record<string, string>> = USERS) {
  const app = createApp().use(errorHandler(), basicAuth({ users, realm: 'Staff only' }));
  app.use((ctx) => ctx.json(ctx.state.user));
  return (Authorization?: string) =>
    request(app, '/', { headers: Authorization === undefined ? {} : { Authorization } });
}

const basic = (credentials: string) => `Basic ${Buffer.from(credentials).toString('base64')}`;

test.each([
  ['ada:correct horse', 'ada'],
  ['Grace Hopper:bättery:staple', 'Grace Hopper'],
  ['Grace Hopper:ba\u0308ttery:staple', 'Grace Hopper'], // the letter in two parts, as macOS sends it
])('the credentials %j set the user', async (credentials, id) => {
  const response = await newPage()(basic(credentials));

  expect(await response.json()).toEqual({ id });
});

test.each([
  undefined,
  '',
  'Basic !!!!',
  `Bearer ${Buffer.from('ada:correct horse').toString('base64')}`,
  `${basic('ada:correct horse')}, Basic x`,
  basic(''),
  basic('ada'),
  basic('ada:correct'),
  basic('ada:correct horse '),
  basic('ada:correct horse\0'),
  basic('ada:bättery:staple'),
  basic('__proto__:correct horse'),
  basic(`ada:${'x'.repeat(5_000)}`),
])('%#: other credentials get 401 and a challenge', async (header) => {
  const response = await newPage()(header);

  expect(response.status).toBe(401);
  expect(response.headers.get('www-authenticate')).toBe(
    'Basic realm="Staff only", charset="UTF-8"',
  );
  expect(await response.json()).toMatchObject({ code: 'UNAUTHORIZED' });
});

test('after 30 wrong passwords a client gets 429, also with the right one', async () => {
  const page = newPage();
  for (let count = 0; count < 30; count++) {
    expect((await page(basic(`ada:wrong ${count}`))).status).toBe(401);
  }

  expect((await page(basic('ada:correct horse'))).status).toBe(429);
  expect((await page()).status).toBe(401);
});

test('routes have the user in their types, and describe the security scheme', () => {
  const router = createRouter().get('/', basicAuth({ users: USERS }), (ctx) => {
    expectTypeOf(ctx.state.user.id).toEqualTypeOf<string>();
  });

  expect(router.getRoutes()[0]?.metadata).toMatchObject({
    security: [{ basic: [] }],
    securitySchemes: { basic: { type: 'http', scheme: 'basic' } },
  });
});
