import { annotate, createApp, type Middleware } from '@fw/core';
import { request } from '@fw/core/testing';
import { expect, test } from 'vitest';
import { createRouter } from './router.ts';

const pass: Middleware = (_ctx, next) => next();
const validates = (validation: unknown) =>
  annotate<Middleware>((_ctx, next) => next(), { validation });

/** Middleware that needs the parameter `id`. */
const needsId = annotate<Middleware>((ctx) => ctx.send(String(ctx.params.id)), {
  missingPathParam: (names) => (names.includes('id') ? undefined : 'id'),
});
const message = 'Cannot register GET /users/:user: "id" must be a parameter of the path';

test.each([undefined, null, { body: 'B' }])(
  'a route with middleware that needs another parameter is rejected, also after validation of %o',
  (validation) => {
    const router = createRouter().get('/users/:user', validates(validation), needsId, pass);

    expect(() => router.routes()).toThrow(new TypeError(message));
  },
);

test('middleware after a validator of the parameters may need any parameter', () => {
  const router = createRouter().get('/users/:user', validates({ params: 'P' }), needsId, pass);

  expect(() => router.routes()).not.toThrow();
});

test('middleware that needs another parameter is not added to a router that is served', async () => {
  const router = createRouter().get('/users/:user', (ctx) => ctx.params.user);
  const app = createApp().use(router.routes());

  expect(() => router.use(pass, needsId)).toThrow(new TypeError(message));

  expect(await (await request(app, '/users/ada')).text()).toBe('ada');
});

test('middleware may need a parameter of the path at which its router is mounted later', async () => {
  const router = createRouter().get('/', pass).use(needsId);
  const app = createApp().route('/users/:id', router);

  expect(await (await request(app, '/users/7')).text()).toBe('7');
});
