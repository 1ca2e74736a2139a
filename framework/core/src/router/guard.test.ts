import { fileURLToPath } from 'node:url';
import { type Context, createApp, type Middleware, type State } from '@fw/core';
import { request } from '@fw/core/testing';
import { expect, expectTypeOf, test } from 'vitest';
import { createRouter } from './router.ts';
import { compile } from './testing/compile.ts';
import type { Guard } from './types.ts';

interface User {
  readonly id: string;
  readonly roles: readonly string[];
}

const authenticate: Guard<{ user: User }> = (ctx, next) => {
  ctx.state.user = { id: 'ada', roles: ['admin'] };
  return next();
};
const selectTenant: Guard<{ tenant: string }> = (ctx, next) => {
  ctx.state.tenant = 'acme';
  return next();
};
const pass: Middleware = (_ctx, next) => next();

test('ctx.state has the values of all guards of a route, in its route and its groups', async () => {
  const router = createRouter()
    .get('/a', authenticate, pass, selectTenant, (ctx) => {
      expectTypeOf(ctx.state.user.roles).toEqualTypeOf<readonly string[]>();
      expectTypeOf(ctx.state.tenant).toEqualTypeOf<string>();
      expectTypeOf(ctx.state.other).toEqualTypeOf<unknown>();
      // @ts-expect-error: the guard adds no such field
      ctx.state.user.email;
      return [ctx.state.user.id, ctx.state.tenant];
    })
    .group('/g', authenticate, (group) => {
      group.get('/b', selectTenant, (ctx) => [ctx.state.user.id, ctx.state.tenant]);
    })
    .group('/list', [authenticate, selectTenant], (group) => {
      group.get('/c', (ctx) => [ctx.state.user.id, ctx.state.tenant]);
    });
  const app = createApp().use(router.routes());

  for (const path of ['/a', '/g/b', '/list/c']) {
    expect(await (await request(app, path)).json()).toEqual(['ada', 'acme']);
  }
});

test('an application may declare the type of its user', async () => {
  const core = fileURLToPath(new URL('../index.ts', import.meta.url));
  const { errors } = await compile(`
    import { createApp } from '${core}';
    interface User { readonly id: string; readonly plan: 'free' | 'pro' }
    declare module '${core}' {
      interface State { user?: User; tenant?: string }
    }
    createApp().use((ctx) => {
      ctx.state.user = { id: 'ada', plan: 'pro' };
      const plan: 'free' | 'pro' | undefined = ctx.state.user.plan;
      const tenant: number | undefined = ctx.state.tenant;
      ctx.json({ plan, tenant });
    });
  `);

  expect(errors).toEqual([
    "TS2322: Type 'string | undefined' is not assignable to type 'number | undefined'.\n  Type 'string' is not assignable to type 'number'.",
  ]);
});

test('without a guard ctx.state has the optional values of State', () => {
  createRouter().get('/', (ctx) => {
    expectTypeOf(ctx.state).toEqualTypeOf<State>();
    // @ts-expect-error: perhaps no guard has run
    ctx.state.user.id;
  });
});

test('a function that needs the values of a guard can be used after it only', () => {
  const readUser = (ctx: Context<{ state: { user: User } }>) => ctx.state.user.id;
  const router = createRouter().get('/a', authenticate, readUser);

  // @ts-expect-error: no guard before it
  router.get('/b', readUser);

  expect(router.getRoutes()).toHaveLength(2);
});
