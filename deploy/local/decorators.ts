import { hash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire, registerHooks, setSourceMapsSupport } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const FOLDER = path.resolve(import.meta.dirname, '../../.local/decorators');
const SOURCE = /^file:.*\/services\/.*\.ts$/;
const DECORATOR = /^\s*@[A-Z]\w*\(/m;
const COMPILER_OPTIONS = { compilerOptions: { experimentalDecorators: true } };
const require = createRequire(import.meta.url);

// Stacks name the lines of the source. `--enable-source-maps` would also read the maps of all packages.
setSourceMapsSupport(true);

/**
 * `node --import decorators.ts` runs services with decorators, which Node does not: it only removes types.
 * Results are kept, because each call of esbuild starts a process.
 */
registerHooks({
  load(url, context, next) {
    if (!SOURCE.test(url)) return next(url, context);
    const file = fileURLToPath(url);
    const text = readFileSync(file, 'utf8');
    if (!DECORATOR.test(text)) return next(url, context);
    const kept = path.join(FOLDER, `${hash('sha256', file + text)}.js`);
    if (!existsSync(kept)) {
      mkdirSync(FOLDER, { recursive: true });
      writeFileSync(`${kept}.part`, transform(file, text));
      renameSync(`${kept}.part`, kept);
    }
    return { format: 'module', source: readFileSync(kept), shortCircuit: true };
  },
});

function transform(sourcefile: string, text: string): string {
  const { transformSync } = require('esbuild') as typeof import('esbuild');
  const { code } = transformSync(text, {
    ...{ loader: 'ts', format: 'esm', target: 'node26', sourcemap: 'inline' },
    ...{ sourcefile, tsconfigRaw: COMPILER_OPTIONS },
  });
  return code;
}
