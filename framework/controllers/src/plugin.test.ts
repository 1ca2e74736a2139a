import { createApp, createRouter } from '@fw/core';
import { request } from '@fw/core/testing';
import { generateDocument } from '@fw/openapi';
import { describe, expect, test } from 'vitest';

import { UserController } from './fixtures/users/user-controller.ts';
import {
  Body,
  Controller,
  type ControllersOptions,
  controllersPlugin,
  Get,
  inject,
  Service,
} from './index.ts';
import { logger, send, serve } from './testing/serve.ts';

const root = new URL('./fixtures/users', import.meta.url);

test('controllers of a folder create, read, list, change and delete', async () => {
  const ada = { name: 'Ada', email: 'ada@example.org' };
  const { app } = serve({ root, prefix: '/api' }, '/api');

  const created = await send(app, 'POST', '/api/users', ada);
  expect(created.status).toBe(201);
  expect(await created.json()).toEqual({ data: { ...ada, id: '1' } });
  expect(await (await request(app, '/api/users/1')).json()).toEqual({ data: { ...ada, id: '1' } });
  expect(await (await request(app, '/api/users?limit=5')).json()).toMatchObject({ total: 1 });
  expect(await (await send(app, 'PUT', '/api/users/1', { name: 'A' })).json()).toEqual({
    data: { ...ada, id: '1', name: 'A' },
  });
  expect(await (await send(app, 'DELETE', '/api/users/1')).json()).toEqual({ success: true });
  expect((await request(app, '/api/users/1')).status).toBe(404);
});

describe('the prefix', () => {
  test.each([undefined, '/api', '/api/'])('%s fits a router at /api', async (prefix) => {
    const { app } = serve({ root, ...(prefix !== undefined && { prefix }) }, '/api');

    expect((await request(app, '/api/users')).status).toBe(200);
    expect((await request(app, '/users')).status).toBe(404);
  });

  test.each([
    ['/v1', '/api', '/v1'],
    ['/', '/api', '/'],
    ['/api/v1', '/api', '/api/v1'],
    ['/api', '/', '/api'],
  ])('of a router at %s is reported at start if it is %s', async (mount, prefix, actual) => {
    const { app } = serve({ root, prefix }, mount);

    await expect(app.ready()).rejects.toThrow(
      `Cannot serve controllers at "${actual}": their prefix is "${prefix}", expected app.route("${prefix}", router)`,
    );
  });

  test('is reported for the second place of a router that is mounted twice', async () => {
    const { app, router } = serve({ controllers: [UserController], prefix: '/api' }, '/api');
    app.route('/v1', router);

    await expect(app.ready()).rejects.toThrow('Cannot serve controllers at "/v1"');
  });
});

test('a router may be mounted after the plugin is ready', async () => {
  const router = createRouter();
  const app = createApp({ logger });
  app.plugin(controllersPlugin({ router, controllers: [UserController] }));
  await app.ready();

  app.route('/api', router);

  expect((await request(app, '/api/users')).status).toBe(200);
});

test('getRoutes() contains the routes of controllers with the metadata of middleware and schemas', async () => {
  const { app, router } = serve({ root, prefix: '/api' }, '/api');
  await app.ready();

  const routes = router.getRoutes();

  expect(routes.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'GET /api/users',
    'GET /api/users/:id',
    'GET /api/users/:id/rank/:rank',
    'POST /api/users',
    'PUT /api/users/:id',
    'DELETE /api/users/:id',
    'DELETE /api/users',
  ]);
  expect(routes[3]?.metadata).toEqual({
    endpoint: { tags: ['users'] },
    validation: { body: expect.objectContaining({ type: 'object' }), status: 400 },
    errors: [{ status: 400, code: 'VALIDATION_FAILED' }],
    onForm: expect.any(Function),
  });
});

describe('the start fails', () => {
  class Unmarked {}

  test('for a root without controllers, and one that is not a folder', async () => {
    const none = serve({ root: new URL('../../errors/src', import.meta.url) });
    const nowhere = serve({ root: '/nowhere/at/all' });

    await expect(none.app.ready()).rejects.toThrow('Cannot find a controller in root');
    await expect(nowhere.app.ready()).rejects.toThrow('Cannot read root "/nowhere/at/all"');
  });

  test('for a decorated property that is no method', async () => {
    class Users {}
    Object.assign(Users.prototype, { list: 'text' });
    Get('/')(Users.prototype as { list: never }, 'list');
    Controller('/')(Users);

    await expect(serve({ controllers: [Users] }).app.ready()).rejects.toThrow(
      'Cannot register Users.list: expected a method',
    );
  });

  const router = createRouter();
  const isPairs = 'expected a list of pairs of a class and its instance';
  const isOneOf =
    /^Cannot read option root ".*" of controllersPlugin\(\): expected a folder, or controllers in its place$/s;

  test.each<readonly [options: object, message: string | RegExp]>([
    [
      { router, rot: 'x' },
      'controllersPlugin() has no option "rot"; its options: router, root, prefix, controllers, provide',
    ],
    [{ router }, isOneOf],
    [{ router, root, controllers: [UserController] }, isOneOf],
    [{ router, root: 5 }, 'Cannot read option root "5" of controllersPlugin(): expected a folder'],
    [{ router: {}, root }, 'expected a router'],
    [
      { router, controllers: [UserController, Unmarked] },
      'expected a list of classes marked with @Controller',
    ],
    [{ router, root, provide: [[Unmarked, new Unmarked()], ['x']] }, isPairs],
    [{ router, root, provide: [[Unmarked, new Unmarked()], Unmarked] }, isPairs],
    [{ router, root, provide: [[Unmarked, new Unmarked()], { 0: Unmarked }] }, isPairs],
    [
      { router, root, provide: ['x'] },
      `Cannot read option provide "[ 'x' ]" of controllersPlugin(): ${isPairs}`,
    ],
  ])('for the options %o', (options, message) => {
    expect(() => controllersPlugin(options as ControllersOptions)).toThrow(message);
  });

  test('for invalid decorators', () => {
    expect(() => Service({ scope: 'page' } as object)(Unmarked)).toThrow(
      'Cannot read option scope "page" of @Service(): expected one of "singleton", "request"',
    );
    expect(() => Service({ dep: [] } as object)(Unmarked)).toThrow(
      '@Service() has no option "dep"; did you mean "deps"? Its options: deps, scope',
    );
    expect(() => Body('x' as unknown as undefined)).toThrow('Cannot take the body by "x"');
    expect(() => inject(Unmarked)).toThrow('Cannot inject Unmarked');
  });
});

test('the document describes the routes of controllers like any others', async () => {
  const { app, router } = serve({ root, prefix: '/api' }, '/api');
  await app.ready();

  const { paths } = await generateDocument(router.getRoutes(), {});

  expect(paths).toMatchObject({
    '/api/users': {
      get: { tags: ['users'], parameters: [{ name: 'limit', in: 'query' }] },
      post: { requestBody: { content: { 'application/json': expect.anything() } } },
    },
    '/api/users/{id}/rank/{rank}': {
      get: {
        parameters: [
          { name: 'id', in: 'path' },
          { name: 'rank', in: 'path', schema: { type: 'integer' } },
        ],
      },
    },
  });
});
