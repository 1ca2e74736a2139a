import { type Context, createApp, listen } from '@fw/core';
import { request } from '@fw/core/testing';
import { generateDocument } from '@fw/openapi';
import { createRouter, endpoint, type Guard } from '@fw/router';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

import { UserController } from './fixtures/users/user-controller.ts';
import {
  Body,
  Controller,
  type ControllersOptions,
  controllersPlugin,
  Get,
  inject,
  Param,
  Post,
  Service,
  type Type,
} from './index.ts';
import { logger, send, serve } from './testing/serve.ts';

const root = new URL('./fixtures/users', import.meta.url);

describe('the CRUD API by controllers', () => {
  const ada = { name: 'Ada', email: 'ada@example.org' };

  test('creates, reads, lists, changes and deletes', async () => {
    const { app } = serve({ root, prefix: '/api' }, '/api');

    const created = await send(app, 'POST', '/api/users', ada);
    expect(created.status).toBe(201);
    expect(await created.json()).toEqual({ data: { ...ada, id: '1' } });
    expect(await (await request(app, '/api/users/1')).json()).toEqual({
      data: { ...ada, id: '1' },
    });
    expect(await (await request(app, '/api/users?limit=5')).json()).toMatchObject({ total: 1 });
    expect(await (await send(app, 'PUT', '/api/users/1', { name: 'A' })).json()).toEqual({
      data: { ...ada, id: '1', name: 'A' },
    });
    expect(await (await send(app, 'DELETE', '/api/users/1')).json()).toEqual({ success: true });
    const deleted = await request(app, '/api/users/1');
    expect(deleted.status).toBe(404);
  });

  test('sends text for a string and 204 for undefined', async () => {
    const { app } = serve({ controllers: [UserController] });

    const text = await request(app, '/users/7/rank/1');
    const nothing = await send(app, 'DELETE', '/users');

    expect(text.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(await text.text()).toBe('7 is 2');
    expect(nothing.status).toBe(204);
  });

  test.each([
    ['POST', '/users', { name: '' }, ['/name', '/email']],
    ['GET', '/users?limit=1000', undefined, ['/limit']],
    ['GET', '/users/7/rank/first', undefined, ['/rank']],
  ])(
    'sends 400 for %s %s, which the schemas of its arguments reject',
    async (method, path, body, pointers) => {
      const { app } = serve({ controllers: [UserController] });

      const response = await send(app, method, path, body);
      const { errors } = (await response.json()) as { errors: { pointer: string }[] };

      expect(response.status).toBe(400);
      expect(errors.map(({ pointer }) => pointer)).toEqual(pointers);
    },
  );
});

test('an argument may come from a path parameter of the mount prefix', async () => {
  @Controller('/users')
  class Users {
    @Get('/:id')
    find(@Param('tenant') tenant: string, @Param('id') id: string) {
      return { tenant, id };
    }
  }
  const { app } = serve({ controllers: [Users] }, '/:tenant');

  expect(await (await request(app, '/acme/users/7')).json()).toEqual({ tenant: 'acme', id: '7' });
});

describe('the prefix', () => {
  test.each(['/api', '/'])('counts once for a router at %s', async (mount) => {
    const { app, router } = serve({ root, prefix: '/api' }, mount);

    expect((await request(app, '/api/users')).status).toBe(200);
    expect((await request(app, '/api/api/users')).status).toBe(404);
    expect((await request(app, '/users')).status).toBe(404);
    expect(router.match('GET', '/users') ?? router.match('GET', '/api/users')).toBeDefined();
  });

  test('counts once for a router that is mounted after the plugin is ready', async () => {
    const router = createRouter();
    const app = createApp({ logger }).plugin(
      controllersPlugin({ router, controllers: [UserController], prefix: '/api' }),
    );
    await app.ready();

    app.route('/api', router);

    expect((await request(app, '/api/users')).status).toBe(200);
  });
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
  });
});

describe('the start fails', () => {
  class Unmarked {}
  @Service()
  class Ring {
    readonly next: unknown = inject(Round);
  }
  @Service()
  class Round {
    readonly next: unknown = inject(Ring);
  }
  @Service()
  class Middle {
    readonly unmarked = inject(Unmarked);
  }
  @Service()
  class Unnamed {
    readonly given: unknown;
    constructor(given: unknown) {
      this.given = given;
    }
  }
  @Service({ scope: 'request' })
  class Brief {}

  function controllerWith(type: Type, scope: 'singleton' | 'request' = 'singleton'): Type {
    @Service({ scope })
    @Controller()
    class Main {
      readonly dependency = inject(type);
      @Get() get() {
        return {};
      }
    }
    return Main;
  }

  test.each<[string, Type, string]>([
    [
      'for a missing dependency',
      controllerWith(Middle),
      'Missing dependency: Main → Middle → Unmarked: expected Unmarked to be a class marked',
    ],
    [
      'for one of a request',
      controllerWith(Middle, 'request'),
      'Missing dependency: Main → Middle → Unmarked',
    ],
    ['for a circular one', controllerWith(Ring), 'Circular dependency: Main → Ring → Round → Ring'],
    [
      'for an argument that nothing names',
      controllerWith(Unnamed),
      'Missing dependency: Main → Unnamed: expected @Service({ deps }) to name the 1 arguments',
    ],
    [
      'for a singleton that would keep what is of a request',
      controllerWith(Brief),
      'Cannot build Main → Brief: Main is built once, expected scope "request"',
    ],
  ])('%s, and names the chain', async (_, type, message) => {
    const { app } = serve({ controllers: [type] });

    await expect(listen(app, 0)).rejects.toThrow(message);
  });

  test('for a root without controllers, and one that is not a folder', async () => {
    const none = serve({
      root: new URL('../../errors/src', import.meta.url),
    });
    const nowhere = serve({ root: '/nowhere/at/all' });

    await expect(none.app.ready()).rejects.toThrow('Cannot find a controller in root');
    await expect(nowhere.app.ready()).rejects.toThrow('Cannot read root "/nowhere/at/all"');
  });

  test('for two schemas of one body', async () => {
    @Controller()
    class Twice {
      @Post()
      post(@Body(z.object({})) a: object, @Body(z.object({})) b: object) {
        return [a, b];
      }
    }

    await expect(serve({ controllers: [Twice] }).app.ready()).rejects.toThrow(
      'Cannot register Twice.post: expected one schema for the body',
    );
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

  test('for an argument from a path parameter that the route does not have', async () => {
    @Controller('/users')
    class Users {
      @Get('/:id')
      find(@Param('idd') id: string) {
        return { id };
      }
    }
    @Controller('/users')
    class Checked {
      @Get('/:id')
      find(@Param('idd', z.string()) id: string) {
        return { id };
      }
    }

    const expected = 'Cannot register GET /users/:id: "idd" must be a parameter of the path';

    for (const type of [Users, Checked]) {
      const router = createRouter();
      const app = createApp({ logger }).route('/', router);
      app.plugin(controllersPlugin({ router, controllers: [type] }));
      await expect(listen(app, 0)).rejects.toThrow(expected);
      expect(() => serve({ controllers: [type] })).toThrow(expected);
    }
  });

  test('for invalid options', () => {
    const router = createRouter();

    expect(() => controllersPlugin({ router, rot: 'x' } as object as ControllersOptions)).toThrow(
      'controllersPlugin() has no option "rot"; its options: router, root, prefix, controllers, provide',
    );
    for (const both of [{ router }, { router, root, controllers: [UserController] }]) {
      expect(() => controllersPlugin(both)).toThrow(
        /^Cannot read option root ".*" of controllersPlugin\(\): expected a folder, or controllers in its place$/s,
      );
    }
    expect(() => controllersPlugin({ router, root: 5 } as object as ControllersOptions)).toThrow(
      'Cannot read option root "5" of controllersPlugin(): expected a folder',
    );
    expect(() => controllersPlugin({ router: {}, root } as object as ControllersOptions)).toThrow(
      'expected a router',
    );
    expect(() => controllersPlugin({ router, controllers: [UserController, Unmarked] })).toThrow(
      'expected a list of classes marked with @Controller',
    );
    for (const entry of [['x'], Unmarked, { 0: Unmarked }]) {
      const provide = [[Unmarked, new Unmarked()], entry];
      expect(() =>
        controllersPlugin({ router, root, provide } as object as ControllersOptions),
      ).toThrow('expected a list of pairs of a class and its instance');
    }
    expect(() =>
      controllersPlugin({ router, root, provide: ['x'] } as object as ControllersOptions),
    ).toThrow(
      'Cannot read option provide "[ \'x\' ]" of controllersPlugin(): expected a list of pairs of a class',
    );
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
        parameters: expect.arrayContaining([
          expect.objectContaining({
            name: 'rank',
            in: 'path',
            schema: expect.objectContaining({ type: 'integer' }),
          }),
          expect.objectContaining({ name: 'id', in: 'path' }),
        ]),
      },
    },
  });
});

test('a method that returns an error instead of throwing it is a 500', async () => {
  class Users {
    find() {
      return Object.assign(new Error('not found'), { status: 404, expose: true });
    }
  }
  Get('/')(Users.prototype, 'find');
  Controller('/')(Users);
  const { app } = serve({ controllers: [Users] });

  expect((await request(app, '/')).status).toBe(500);
});

test('a method with a contract sends the declared fields, and may return nothing else', async () => {
  const rows = [{ id: 7, passwordHash: 'x', keys: [{ name: 'a', passwordHash: 'x' }] }];
  const Row = z.object({ id: z.number(), keys: z.array(z.object({ name: z.string() })) });
  class Rows {
    list() {
      return rows as z.output<typeof Row>[];
    }
    wrong() {
      return [{ id: '7', keys: [] }];
    }
  }
  const contract = endpoint({ responses: { 200: z.array(Row) } });
  const methodOf = (name: keyof Rows) => Object.getOwnPropertyDescriptor(Rows.prototype, name);
  Get('/', contract)(Rows.prototype, 'list', methodOf('list') as { value?: Rows['list'] });
  // @ts-expect-error: the contract declares a number
  Get('/wrong', contract)(Rows.prototype, 'wrong', methodOf('wrong') as { value?: Rows['wrong'] });
  Controller('/')(Rows);
  const { app } = serve({ controllers: [Rows] });

  expect(await (await request(app, '/')).json()).toEqual([{ id: 7, keys: [{ name: 'a' }] }]);
  expect((await request(app, '/wrong')).status).toBe(500);
});

test('a method declares what a guard of its controller adds to the state', async () => {
  type User = { readonly id: string };
  const requireUser: Guard<{ user: User }> = (ctx, next) => {
    ctx.state.user = { id: '7' };
    return next();
  };
  class Me {
    read(ctx: Context<{ state: { user: User } }>) {
      return ctx.state.user.id;
    }
  }
  Get('/')(Me.prototype, 'read');
  Controller('/me', requireUser)(Me);
  const { app } = serve({ controllers: [Me] });

  expect(await (await request(app, '/me')).text()).toBe('7');
});
