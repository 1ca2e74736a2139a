import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';

import { transformSync } from 'esbuild';

const DECORATOR = /^\s*@[A-Z]\w*\(/m;
const COMPILER_OPTIONS = { compilerOptions: { experimentalDecorators: true } };

/**
 * `node --import decorators.ts` runs sources with decorators, which Node does not: it only removes types.
 * With `--enable-source-maps`, stacks name the lines of the source.
 */
registerHooks({
  load(url, context, next) {
    if (!url.startsWith('file:') || !url.endsWith('.ts')) return next(url, context);
    const file = fileURLToPath(url);
    const source = readFileSync(file, 'utf8');
    if (!DECORATOR.test(source)) return next(url, context);
    const { code } = transformSync(source, {
      ...{ loader: 'ts', format: 'esm', target: 'node26', sourcemap: 'inline' },
      ...{ sourcefile: file, tsconfigRaw: COMPILER_OPTIONS },
    });
    return { format: 'module', source: code, shortCircuit: true };
  },
});
