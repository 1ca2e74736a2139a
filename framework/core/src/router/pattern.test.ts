import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { afterEach, beforeEach, describe, expect, expectTypeOf, test } from 'vitest';
import { createRouter } from './create-router.ts';
import type { ParamNames, ParamsOf } from './pattern.ts';

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
  const tsc = fileURLToPath(
    new URL('../../../../node_modules/typescript/bin/tsc', import.meta.url),
  );
  const types = fileURLToPath(new URL('../../../../node_modules/@types', import.meta.url));
  const entry = fileURLToPath(new URL('./index.ts', import.meta.url));
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'fw-routes-'));
  });

  afterEach(() => rm(folder, { recursive: true }));

  /** Compiles `source` and returns the errors and the work of the checker, which no load changes. */
  async function check(source: string): Promise<{ errors: string[]; instantiations: number }> {
    await writeFile(join(folder, 'routes.ts'), source);
    const compilerOptions = {
      target: 'esnext',
      module: 'nodenext',
      lib: ['esnext'],
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      allowImportingTsExtensions: true,
      typeRoots: [types],
      types: ['node'],
    };
    await writeFile(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ compilerOptions, files: ['routes.ts'] }),
    );
    const args = [tsc, '--project', folder, '--extendedDiagnostics', '--pretty', 'false'];
    const { stdout } = await promisify(execFile)(process.execPath, args).catch((error) => error);
    const [, instantiations = 'NaN'] = /^Instantiations:\s+(\d+)$/m.exec(stdout) ?? [];
    return {
      errors: stdout.match(/^.*error TS.*$/gm) ?? [],
      instantiations: Number(instantiations),
    };
  }

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
    const { errors, instantiations } = await check(routes(2_000));

    expect(errors).toEqual([]);
    expect(instantiations).toBeLessThan(2_000 * 250);
  });

  test('finds the one parameter that no route captures', { timeout: 60_000 }, async () => {
    const { errors } = await check(routes(20).replace('ctx.params.id7,', 'ctx.params.id8,'));

    expect(errors).toHaveLength(1);
    expect(errors[0]).toContain("Property 'id8' does not exist");
  });
});
