import { readFileSync } from 'node:fs';
import { createRequire, registerHooks, setSourceMapsSupport } from 'node:module';
import { fileURLToPath } from 'node:url';

const SOURCE = /^file:.*\/services\/.*\.ts$/;
const DECORATOR = /^\s*@[A-Z]\w*\(/m;
const require = createRequire(import.meta.url);

// Stacks name the lines of the source. `--enable-source-maps` would also read the maps of all packages.
setSourceMapsSupport(true);

/** `node --import decorators.ts` runs services with decorators, which Node does not: it only removes types. */
registerHooks({
  load(url, context, next) {
    if (!SOURCE.test(url)) return next(url, context);
    const file = fileURLToPath(url);
    const text = readFileSync(file, 'utf8');
    if (!DECORATOR.test(text)) return next(url, context);
    return { format: 'module', source: transform(file, text), shortCircuit: true };
  },
});

function transform(sourcefile: string, text: string): string {
  const { transformSync } = require('esbuild') as typeof import('esbuild');
  return transformSync(text, {
    loader: 'ts',
    format: 'esm',
    target: 'node26',
    sourcemap: 'inline',
    sourcefile,
    tsconfigRaw: { compilerOptions: { experimentalDecorators: true } },
  }).code;
}
