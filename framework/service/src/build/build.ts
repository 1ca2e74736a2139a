import fs from 'node:fs';
import path from 'node:path';

import { loadOptional } from '@fw/core/extension';
import type { Metafile, OutputFile } from 'esbuild';

export interface BuildServiceOptions {
  /** The service's `main.ts`. */
  readonly entry: string;
  /** The file to run. Chunks that are loaded on demand and source maps are next to it. */
  readonly outfile: string;
  /** The folder that paths in the bundle and the metafile are relative to. Default: the current folder. */
  readonly root?: string;
}

/** The variables that CommonJS packages expect. */
const COMMON_JS_SCOPE = [
  "const require = process.getBuiltinModule('node:module').createRequire(import.meta.url);",
  'const { filename: __filename, dirname: __dirname } = import.meta;',
].join('\n');

/** Large packages that `@fw/core` loads for the schemas of a library, by the folder of that library. */
const CONVERTERS: Readonly<Record<string, string>> = {
  '@valibot/to-json-schema': 'node_modules/valibot/',
  'zod/v4/core': 'node_modules/zod/v4/mini/',
};

/**
 * Bundles a service and its dependencies for Node, with a chunk for each part that is loaded on demand.
 * Optional packages are included if they are installed.
 * Files are replaced atomically, and only if they changed.
 *
 * @returns the metafile of esbuild, which lists the inputs of each output
 */
export async function buildService(options: BuildServiceOptions): Promise<Metafile> {
  const { entry, outfile, root = process.cwd() } = options;
  const { build }: typeof import('esbuild') = loadOptional('esbuild', {
    user: 'buildService()',
    from: import.meta.url,
  });
  const { dir: folder, name } = path.parse(path.resolve(root, outfile));
  const bundle = (external: readonly string[]) =>
    build({
      absWorkingDir: root,
      entryPoints: [{ in: path.resolve(root, entry), out: name }],
      outdir: folder,
      // Next to the entry, so that code finds its data files relative to itself in every chunk.
      chunkNames: `${name}.[name]-[hash]`,
      bundle: true,
      splitting: true,
      platform: 'node',
      format: 'esm',
      target: 'node26',
      sourcemap: 'external',
      banner: { js: COMMON_JS_SCOPE },
      external: ['pg-native', 'cloudflare:sockets', ...external], // parts of pg for other platforms
      metafile: true,
      write: false,
      logLevel: 'warning',
    });
  const converters = Object.keys(CONVERTERS);
  const small = await bundle(converters);
  const inputs = Object.keys(small.metafile.inputs);
  const unused = converters.filter(
    (name) => !inputs.some((file) => file.includes(CONVERTERS[name]!)),
  );
  const isSmall = unused.length === converters.length;
  const { outputFiles, metafile } = isSmall ? small : await bundle(unused);
  // The entry is written last, because it refers to the others.
  const isEntry = (file: OutputFile) => Number(file.path === path.join(folder, `${name}.js`));
  for (const file of outputFiles.sort((one, other) => isEntry(one) - isEntry(other))) write(file);
  removeStale(folder, `${name}.`);
  return metafile;
}

function write({ path: file, contents }: OutputFile): void {
  if (fs.existsSync(file) && fs.readFileSync(file).equals(contents)) {
    const now = new Date();
    fs.utimesSync(file, now, now);
    return;
  }
  fs.mkdirSync(path.dirname(file), { recursive: true });
  const draft = `${file}.${crypto.randomUUID().slice(0, 8)}`;
  fs.writeFileSync(draft, contents);
  fs.renameSync(draft, file);
}

/** A process that was started from an earlier build may still load its chunks. */
const STALE_AFTER_MS = 24 * 60 * 60 * 1000;

/** Removes chunks that no build has written for a day. */
function removeStale(folder: string, prefix: string): void {
  for (const name of fs.readdirSync(folder)) {
    const file = path.join(folder, name);
    const isStale = () => Date.now() - fs.statSync(file).mtimeMs > STALE_AFTER_MS;
    if (name.startsWith(prefix) && isStale()) fs.rmSync(file, { force: true });
  }
}
