import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { createRequire, registerHooks, setSourceMapsSupport } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = path.resolve(import.meta.dirname, '../..');
const FOLDER = path.join(ROOT, '.local/decorators');
const SOURCE = /^file:.*\/services\/.*\.ts$/;
const DECORATOR = /^\s*@[A-Z]\w*\(/m;
const require = createRequire(import.meta.url);

// Stacks name the lines of the source. `--enable-source-maps` would also read the maps of all packages.
setSourceMapsSupport(true);

/**
 * `node --import decorators.ts` runs services with decorators, which Node does not: it only removes types.
 * The result of each file is kept until the file changes, because esbuild starts a process.
 */
registerHooks({
  load(url, context, next) {
    if (!SOURCE.test(url)) return next(url, context);
    const file = fileURLToPath(url);
    const text = readFileSync(file, 'utf8');
    if (!DECORATOR.test(text)) return next(url, context);
    const kept = path.join(FOLDER, `${path.relative(ROOT, file).replaceAll(path.sep, '-')}.js`);
    if (changedMs(kept) < changedMs(file)) {
      mkdirSync(FOLDER, { recursive: true });
      writeFileSync(`${kept}.${process.pid}`, transform(file, text));
      renameSync(`${kept}.${process.pid}`, kept); // another replica may be reading it
    }
    return { format: 'module', source: readFileSync(kept), shortCircuit: true };
  },
});

/** The time of the last change or renaming; 0 for a file that does not exist. */
function changedMs(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.ctimeMs ?? 0;
}

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
