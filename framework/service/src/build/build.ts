import fs from 'node:fs';
import path from 'node:path';

import { build, type Metafile, type OutputFile, type Plugin } from 'esbuild';

import { lazyBuiltins } from './lazy-builtins.ts';

export interface BuildServiceOptions {
  /** The service's `main.ts`. */
  readonly entry: string;
  /** The file to run. What is only loaded when it is needed lies beside it, as do source maps. */
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
 * Bundles a service and all that it needs for Node: few files, of which the start reads only what
 * it uses. What has not changed is left alone, and a file that is read meanwhile is never half of
 * anything.
 *
 * @returns what went into the bundle
 */
export async function buildService(options: BuildServiceOptions): Promise<Metafile> {
  const { entry, outfile, root = process.cwd() } = options;
  const { dir: folder, name } = path.parse(path.resolve(root, outfile));
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: [{ in: path.resolve(root, entry), out: name }],
    outdir: folder,
    // Beside the entry: what finds its data relative to itself does so wherever it ends up.
    chunkNames: `${name}.[name]-[hash]`,
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node26',
    sourcemap: 'external',
    banner: { js: COMMON_JS_SCOPE },
    // Both are optional parts of pg, for other platforms.
    external: ['pg-native', 'cloudflare:sockets'],
    plugins: [lazyBuiltins(), leaveOutConverters()],
    metafile: true,
    write: false,
    logLevel: 'warning',
  });
  // The entry comes last: it names the others.
  const isEntry = (file: OutputFile) => Number(file.path === path.join(folder, `${name}.js`));
  for (const file of outputFiles.sort((one, other) => isEntry(one) - isEntry(other))) write(file);
  removeStale(folder, `${name}.`);
  return metafile;
}

/**
 * Leaves out the converters to JSON Schema that documents load for schemas that cannot convert
 * themselves: those of zod can, and an import at run time keeps all of a library in the bundle.
 */
function leaveOutConverters(): Plugin {
  return {
    name: 'fw-leave-out-converters',
    setup({ onResolve }) {
      onResolve({ filter: /^(?:zod|@valibot\/to-json-schema)$/ }, ({ kind }) =>
        kind === 'dynamic-import' ? { external: true } : undefined,
      );
    },
  };
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

/** A process that was started from an earlier build may still load a part of that. */
const STALE_AFTER_MS = 24 * 60 * 60 * 1000;

/** Removes the parts that no build of a day has asked for. */
function removeStale(folder: string, prefix: string): void {
  for (const name of fs.readdirSync(folder)) {
    const file = path.join(folder, name);
    const isStale = () => Date.now() - fs.statSync(file).mtimeMs > STALE_AFTER_MS;
    if (name.startsWith(prefix) && isStale()) fs.rmSync(file, { force: true });
  }
}
