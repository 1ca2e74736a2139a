import { readFileSync } from 'node:fs';
import module from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { findModuleFiles } from './find-module-files.ts';

/** The result of `import()`. */
export type Module = Readonly<Record<string, unknown>>;

/**
 * Loads the modules below `root`, a path or a `file:` URL, that declare controllers. The esbuild plugin
 * replaces this file by a list created at build time. The entry of the program is left out, because it
 * waits for this function.
 *
 * @throws {Error} if `root` cannot be read, or Node cannot run a module
 */
export async function loadModules(root: string): Promise<Module[]> {
  const folder = root.startsWith('file:') ? fileURLToPath(root) : path.resolve(root);
  const files = (await findModuleFiles(folder)).filter((file) => file !== process.argv[1]);
  const esbuild = await loadEsbuild();
  const hooks = esbuild && compileBelow(folder, esbuild);
  try {
    return await Promise.all(files.map((file) => load(file, esbuild !== undefined)));
  } finally {
    hooks?.deregister();
  }
}

async function load(file: string, isCompiled: boolean): Promise<Module> {
  try {
    return await import(/* @vite-ignore */ pathToFileURL(file).href);
  } catch (cause) {
    if (isCompiled || !(cause instanceof SyntaxError)) throw cause;
    throw new Error(
      `Cannot load "${file}": its decorators must be compiled: install esbuild, or bundle with the plugin of @fw/controllers/esbuild`,
      { cause },
    );
  }
}

type Esbuild = typeof import('esbuild');

/** esbuild, if it is installed; the name is a variable so that no bundler includes it. */
async function loadEsbuild(): Promise<Esbuild | undefined> {
  const name = 'esbuild';
  try {
    return (await import(/* @vite-ignore */ name)) as Esbuild;
  } catch {
    return undefined;
  }
}

/**
 * Compiles the TypeScript below `folder` on import, because Node only strips types; Bun and Deno, which
 * may lack `registerHooks`, compile it themselves.
 */
function compileBelow(folder: string, { transformSync }: Esbuild) {
  const start = pathToFileURL(folder + path.sep).href;
  return module.registerHooks?.({
    load(url, context, nextLoad) {
      if (!url.startsWith(start) || !/\.m?ts$/.test(url)) return nextLoad(url, context);
      const { code } = transformSync(readFileSync(fileURLToPath(url), 'utf8'), {
        loader: 'ts',
        format: 'esm',
        sourcefile: fileURLToPath(url),
        sourcemap: 'inline',
        tsconfigRaw: {
          compilerOptions: { experimentalDecorators: true, verbatimModuleSyntax: true },
        },
      });
      return { format: 'module', source: code, shortCircuit: true };
    },
  });
}
