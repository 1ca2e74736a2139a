import { type Context, createApp, createRouter, endpoint, type Guard } from '@fw/core';
import { request } from '@fw/core/testing';
import type { StandardSchema } from '@fw/validation';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

import { UserController } from './fixtures/users/user-controller.ts';
import {
  Body,
  Controller,
  controllersPlugin,
  Get,
  Param,
  Patch,
  Post,
  Put,
  Query,
} from './index.ts';
import { bodyOf, logger, send, serve } from './testing/serve.ts';

describe('arguments and results', () => {
  @Controller('things')
  class Things {
    @Patch(':a/:b')
    patch(@Param('b') b: string, @Query() q: object, @Param('a') a: string, @Body() body: object) {
      return [a, b, q, body];
    }

    @Put('/null')
    null() {
      return null;
    }

    @Post('/own')
    async own() {
      return 5;
    }
  }

  test('come from the sources of their decorators, in any order', async () => {
    const { app } = serve({ controllers: [Things] });

    const response = await send(app, 'PATCH', '/things/1/2?q=x', { b: 1 });

    expect(await response.json()).toEqual(['1', '2', { q: 'x' }, { b: 1 }]);
  });

  test('results that are neither text nor undefined are JSON', async () => {
    const { app } = serve({ controllers: [Things] });

    expect(await (await send(app, 'PUT', '/things/null')).json()).toBeNull();
    expect(await (await send(app, 'POST', '/things/own')).json()).toBe(5);
  });

  test('of the path that would be true for the text "false" fail the start', async () => {
    @Controller()
    class Users {
      @Get('/:id/:all')
      find(@Param('id', z.uuid()) id: string, @Param('all', z.coerce.boolean()) all: boolean) {
        return { id, all };
      }
    }

    const { app } = serve({ controllers: [Users] });

    await expect(app.ready()).rejects.toThrow('Cannot validate params "all" as type boolean');
  });

  test('of a method that a derived class marks again are its own', async () => {
    class Base {
      @Get()
      list(_query?: object): unknown {
        return 'base';
      }
    }
    @Controller()
    class Derived extends Base {
      @Get()
      override list(@Query() query: object) {
        return { query };
      }
    }

    expect(await bodyOf(Derived)).toEqual({ query: {} });
  });

  test('an overriding method keeps the decorators of the arguments that it does not mark', async () => {
    const NewUser = z.object({ name: z.string() });
    class Base {
      @Post('/:id', endpoint({ summary: 'Create' }))
      create(@Param('id', z.coerce.number()) id: number, @Body(NewUser) user: object): unknown {
        return { id, user };
      }
    }
    @Controller('/plain')
    class Plain extends Base {
      override create(id: number, user: object): unknown {
        return { plain: super.create(id, user) };
      }
    }
    @Controller('/marked')
    class Marked extends Plain {
      override create(@Param('id', z.string()) id: unknown, user: object) {
        return { marked: super.create(id as number, user) };
      }
    }
    const { app, router } = serve({ controllers: [Plain, Marked] });

    expect((await send(app, 'POST', '/plain/1', { name: 5 })).status).toBe(400);
    expect((await send(app, 'POST', '/plain/x', { name: 'Ada' })).status).toBe(400);
    expect((await send(app, 'POST', '/marked/1', { name: 5 })).status).toBe(400);
    expect(await (await send(app, 'POST', '/plain/1', { name: 'Ada' })).json()).toEqual({
      plain: { id: 1, user: { name: 'Ada' } },
    });
    expect(await (await send(app, 'POST', '/marked/x', { name: 'Ada' })).json()).toEqual({
      marked: { plain: { id: 'x', user: { name: 'Ada' } } },
    });
    for (const { metadata } of router.getRoutes()) {
      expect(metadata).toMatchObject({
        endpoint: { summary: 'Create' },
        validation: { body: NewUser },
      });
    }
  });

  test('an overriding method that repeats a decorator without a schema keeps its schema', async () => {
    class Base {
      @Post('/:id/:to')
      create(
        @Param('id', z.coerce.number()) id: unknown,
        @Param('to', z.string().toUpperCase()) to: unknown,
        @Query(z.object({ page: z.coerce.number() })) query: unknown,
        @Body(z.object({ name: z.string() })) user: unknown,
      ): unknown {
        return { id, to, query, user };
      }
    }
    @Controller('/repeated')
    class Repeated extends Base {
      override create(
        @Param('to') to: unknown,
        @Body() user: unknown,
        @Param('id') id: unknown,
        @Query() query: unknown,
      ) {
        return super.create(id, to, query, user);
      }
    }
    @Controller('/added')
    class Added extends Base {
      override create(
        id: unknown,
        to: unknown,
        query: unknown,
        _user: unknown,
        @Body() same?: unknown,
      ) {
        return super.create(id, to, query, same);
      }
    }
    const { app } = serve({ controllers: [Repeated, Added] });

    for (const prefix of ['/repeated', '/added']) {
      const post = (path: string, body: object) => send(app, 'POST', prefix + path, body);
      expect((await post('/x/b?page=2', { name: 'Ada' })).status).toBe(400);
      expect((await post('/1/b?page=x', { name: 'Ada' })).status).toBe(400);
      expect((await post('/1/b?page=2', { name: 5 })).status).toBe(400);
      expect(await (await post('/1/b?page=2', { name: 'Ada' })).json()).toEqual({
        id: 1,
        to: 'B',
        query: { page: 2 },
        user: { name: 'Ada' },
      });
    }
  });

  test('all invalid path parameters are in one response, in the order of the arguments; those without a schema are kept', async () => {
    @Controller('/ranges')
    class Ranges {
      @Get('/:unit/:from/:to')
      range(
        @Param('unit') unit: string,
        @Param('from', z.coerce.number()) from: number,
        @Param('to', z.coerce.number()) to: number,
      ) {
        return { unit, from, to };
      }
    }
    const { app } = serve({ controllers: [Ranges] });

    const valid = await (await request(app, '/ranges/day/1/2')).json();
    expect(valid).toEqual({ unit: 'day', from: 1, to: 2 });
    for (const [path, pointers] of [
      ['/ranges/day/x/y', ['/from', '/to']],
      ['/ranges/day/1/y', ['/to']],
    ] as const) {
      const { errors } = (await (await request(app, path)).json()) as {
        errors: readonly { pointer: string }[];
      };
      expect(errors.map(({ pointer }) => pointer)).toEqual(pointers);
    }
  });

  test('a return value after ctx.html() is rejected like any second response', async () => {
    @Controller()
    class Double {
      @Get()
      get(ctx: Context) {
        ctx.html('one');
        return 'two';
      }
      @Get('/one')
      one(ctx: Context) {
        ctx.html('one');
      }
    }
    const { app } = serve({ controllers: [Double] });

    expect((await request(app, '/')).status).toBe(500);
    expect(await (await request(app, '/one')).text()).toBe('one');
  });

  test('several schema failures cause one response', async () => {
    const schemaOf = (validate: StandardSchema['~standard']['validate']): StandardSchema => ({
      '~standard': { version: 1, vendor: 'by hand', validate },
    });
    const silent = schemaOf(() => ({ issues: [] }));
    const rejects = schemaOf(() => Promise.reject(new Error('rejects')));
    const throws = schemaOf(() => {
      throw new Error('throws');
    });
    const unused = z.string().refine(async (value) => value === 'free', 'is used');
    @Controller()
    class Checked {
      @Get('/:a/:b')
      get(@Param('a', rejects) a: string, @Param('b', throws) b: string) {
        return [a, b];
      }
      @Get('/silent/:a')
      silent(@Param('a', silent) a: string) {
        return { a };
      }
      @Get('/name/:name')
      name(@Param('name', unused) name: string) {
        return { name };
      }
    }
    const { app } = serve({ controllers: [Checked] });

    expect((await request(app, '/1/2')).status).toBe(500);
    expect((await request(app, '/silent/1')).status).toBe(400);
    expect((await request(app, '/name/ada')).status).toBe(400);
    expect(await (await request(app, '/name/free')).json()).toEqual({ name: 'free' });
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

describe('the start fails', () => {
  test('for two schemas of one body or path parameter', async () => {
    @Controller()
    class Bodies {
      @Post()
      post(@Body(z.object({})) a: object, @Body(z.object({})) b: object) {
        return [a, b];
      }
    }
    @Controller()
    class Params {
      @Get('/:id')
      get(@Param('id', z.string()) a: string, @Param('id', z.string()) b: string) {
        return [a, b];
      }
    }

    await expect(serve({ controllers: [Bodies] }).app.ready()).rejects.toThrow(
      'Cannot register Bodies.post: expected one schema for the body',
    );
    await expect(serve({ controllers: [Params] }).app.ready()).rejects.toThrow(
      'Cannot register Params.get: expected one schema for the path parameter "id"',
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
      await expect(app.ready()).rejects.toThrow(expected);
      expect(() => serve({ controllers: [type] })).toThrow(expected);
    }
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
