import { fileURLToPath } from 'node:url';

import { describe, expect, expectTypeOf, test } from 'vitest';
import type { ParamNames, ParamsOf } from './pattern.ts';
import { createRouter } from './router.ts';
import { compile } from './testing/compile.ts';

type Ten = 'a/b/c/d/e/f/g/h/i/j';
type LongPattern =
  `/:first/${Ten}/${Ten}/${Ten}/${Ten}/${Ten}/${Ten}/${Ten}/${Ten}/${Ten}/${Ten}/:last`;

describe('the parameters of a pattern', () => {
  test('are typed by their names', () => {
    expectTypeOf<ParamsOf<'/users'>>().toEqualTypeOf<Record<never, string>>();
    expectTypeOf<ParamsOf<'/users/:id'>>().toEqualTypeOf<{ readonly id: string }>();
    expectTypeOf<ParamsOf<'/users/:id/'>>().toEqualTypeOf<{ readonly id: string }>();
    expectTypeOf<ParamsOf<'/users/:id/*'>>().toEqualTypeOf<{
      readonly id: string;
      readonly '*': string;
    }>();
    expectTypeOf<ParamsOf<'/*'>>().toEqualTypeOf<{ readonly '*': string }>();
    expectTypeOf<ParamNames<'/:a/b/:c-d/e/:f_g'>>().toEqualTypeOf<'a' | 'c-d' | 'f_g'>();
    expectTypeOf<ParamNames<LongPattern>>().toEqualTypeOf<'first' | 'last'>();
    expectTypeOf<ParamsOf<string>>().toEqualTypeOf<Record<string, string>>();
  });

  test('are typed in handlers, including those of prefixes and groups', () => {
    const router = createRouter({ prefix: '/:tenant' });
    router.get('/users/:id', (ctx) => {
      expectTypeOf(ctx.params).toEqualTypeOf<{ readonly tenant: string; readonly id: string }>();
    });
    router.group('/groups/:group', (group) => {
      group.post(
        '/files/*',
        (ctx, next) => {
          expectTypeOf(ctx.params['*']).toEqualTypeOf<string>();
          return next();
        },
        (ctx) => {
          // @ts-expect-error: no such parameter
          ctx.params.id;
          expectTypeOf(ctx.params.group).toEqualTypeOf<string>();
          expectTypeOf(ctx.params.tenant).toEqualTypeOf<string>();
        },
      );
    });

    expect(router.match('POST', '/t/groups/g/files/a/b')?.params).toEqual({
      tenant: 't',
      group: 'g',
      '*': 'a/b',
    });
  });
});

describe('type-checking', () => {
  const entry = fileURLToPath(new URL('./router.ts', import.meta.url));

  function routes(count: number): string {
    const lines = Array.from({ length: count }, (_, n) => {
      const path = `/api/v${n % 3}/resource-${n}/:id${n}/items/:item/*`;
      return `router.get('${path}', (ctx) => ctx.json([ctx.params.id${n}, ctx.params.item, ctx.params['*']]));`;
    });
    const start = `import { createRouter } from ${JSON.stringify(entry)};\nconst router = createRouter();\n`;
    return start + lines.join('\n');
  }

  test('a file of 2,000 routes takes fewer than 250 instantiations of types per route', {
    timeout: 60_000,
  }, async () => {
    const { errors, instantiations } = await compile(routes(2_000));

    expect(errors).toEqual([]);
    expect(instantiations).toBeLessThan(2_000 * 250);
  });
});
