import fs from 'node:fs';
import path from 'node:path';

import { build, type Metafile, type OutputFile } from 'esbuild';

import { lazyBuiltins } from './lazy-builtins.ts';

export interface BuildServiceOptions {
  /** The service's `main.ts`. */
  readonly entry: string;
  /** The one file to write, and beside it its source map, `.map`. */
  readonly outfile: string;
  /** What paths in the bundle and its metafile are relative to. Default: the current folder. */
  readonly root?: string;
}

/** What CommonJS packages expect to find around them. */
const COMMON_JS_SCOPE = [
  "const require = process.getBuiltinModule('node:module').createRequire(import.meta.url);",
  'const { filename: __filename, dirname: __dirname } = import.meta;',
].join('\n');

/**
 * Bundles a service for Node: the whole service and what it needs in one file, which starts faster
 * than many. A file that is written already and has not changed is left alone, and one that is read
 * meanwhile is never half of anything.
 *
 * @returns what went into the bundle
 */
export async function buildService(options: BuildServiceOptions): Promise<Metafile> {
  const { entry, outfile, root = process.cwd() } = options;
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: [path.resolve(root, entry)],
    outfile: path.resolve(root, outfile),
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node26',
    sourcemap: 'external',
    banner: { js: COMMON_JS_SCOPE },
    // Both are optional parts of pg, for other platforms.
    external: ['pg-native', 'cloudflare:sockets'],
    plugins: [lazyBuiltins()],
    metafile: true,
    write: false,
    logLevel: 'warning',
  });
  for (const file of outputFiles) writeIfChanged(file);
  return metafile;
}

function writeIfChanged({ path: file, contents }: OutputFile): void {
  if (fs.existsSync(file) && fs.readFileSync(file).equals(contents)) return;
  fs.mkdirSync(path.dirname(file), { recursive: true });
  const draft = `${file}.${process.pid}.${crypto.randomUUID().slice(0, 8)}`;
  fs.writeFileSync(draft, contents);
  fs.renameSync(draft, file);
}
