import { setImmediate as turn } from 'node:timers/promises';

import { expect, test } from 'vitest';

import { type Application, createApp, type Plugin } from './application.ts';
import type { Middleware } from './context.ts';
import { request } from './testing/index.ts';

/** Middleware that adds `name` to the header X-Order. */
function step(name: string): Middleware {
  return (ctx, next) => {
    ctx.append('X-Order', name);
    return next();
  };
}

async function orderOf(app: Application): Promise<string | null> {
  return (await request(app, '/')).headers.get('x-order');
}

test('a plugin added by a plugin runs at its position, and ready() waits for it', async () => {
  const app = createApp();
  app.plugin(async (outer) => {
    await turn();
    outer.plugin(async (inner) => {
      await turn();
      await turn();
      inner.use(step('1'));
    });
    outer.use(step('2'));
  });
  app.use(step('3'), (ctx) => ctx.send('last'));

  expect(await orderOf(app)).toBe('1, 2, 3');
});

test('plugin rejects what is not a function', () => {
  expect(() => createApp().plugin({} as Plugin)).toThrow(
    new TypeError('Cannot use "[object Object]" as a plugin: expected a function'),
  );
});
