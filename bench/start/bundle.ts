import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** The module formats of a bundle. */
export const FORMS = ['CommonJS', 'ES module'] as const;
export type Form = (typeof FORMS)[number];

const ESBUILD = {
  CommonJS: { format: 'cjs', extension: 'cjs' },
  'ES module': { format: 'esm', extension: 'mjs' },
} as const;

/** Defines `require`, which CommonJS packages call, in a bundle that is an ES module. */
export const REQUIRE =
  "const require = process.getBuiltinModule('node:module').createRequire(import.meta.url);";

/** Creates a directory for bundles, removed when the process exits. */
export function createBundleDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'fw-bench-'));
  process.on('exit', () => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Bundles the application of a contestant into one minified file and returns its path. */
export async function bundle(contestant: string, form: Form, directory: string): Promise<string> {
  const { format, extension } = ESBUILD[form];
  const outfile = join(directory, `${contestant}.${extension}`);
  await build({
    entryPoints: [fileURLToPath(new URL(`apps/${contestant}.ts`, import.meta.url))],
    outfile,
    format,
    bundle: true,
    minify: true,
    platform: 'node',
    target: 'node26',
    logLevel: 'error',
    ...(form === 'ES module' ? { banner: { js: REQUIRE } } : {}),
  });
  return outfile;
}
