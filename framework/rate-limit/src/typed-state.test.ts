import { createApp, createRouter, type Guard } from '@fw/core';
import { request } from '@fw/core/testing';
import { expect, expectTypeOf, test } from 'vitest';

import { rateLimit, tieredRateLimit } from './rate-limit.ts';

interface User {
  readonly id: string;
  readonly plan: 'free' | 'pro';
}

const authenticate: Guard<{ user: User }> = (ctx, next) => {
  ctx.state.user = { id: 'ada', plan: 'pro' };
  return next();
};

test('the functions of a limiter read what guards before it have added, in routes and groups', async () => {
  const limit = { max: 5, window: '1m' };
  const router = createRouter()
    .get(
      '/route/:id',
      authenticate,
      rateLimit({ keyGenerator: (ctx) => `${ctx.state.user.id} ${ctx.params.id}` }),
      (ctx) => ctx.state.user.plan,
    )
    .group(
      '/tiers',
      authenticate,
      tieredRateLimit({
        tiers: { free: { ...limit, max: 1 }, pro: limit },
        tierResolver: (ctx) => ctx.state.user.plan,
        keyGenerator: (ctx) => ctx.state.user.id,
        skip: (ctx) => ctx.state.user.id === '',
      }),
      (group) => {
        group.get('/', (ctx) => ctx.state.user.plan);
      },
    );
  const app = createApp().use(router.routes());

  for (const path of ['/route/7', '/tiers']) {
    expect(await (await request(app, path)).text()).toBe('pro');
  }
});

test('without a guard before it a limiter has no user', () => {
  createApp().use(
    rateLimit({
      keyGenerator: (ctx) => {
        expectTypeOf(ctx.state.user?.id).toEqualTypeOf<string | undefined>();
        // @ts-expect-error: perhaps no guard has run
        return ctx.state.user.id;
      },
    }),
  );
  const bound = rateLimit<{ state: { user: User } }>({ keyGenerator: (ctx) => ctx.state.user.id });

  createRouter()
    .get('/list', authenticate, bound, (ctx) => ctx.state.user.plan)
    // @ts-expect-error: no guard before it
    .get('/none', bound, () => '')
    // @ts-expect-error: the guard is after it
    .get('/after', rateLimit({ keyGenerator: (ctx) => ctx.state.user.id }), authenticate, () => '');
});
