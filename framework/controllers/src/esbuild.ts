import path from 'node:path';

import type { Plugin } from 'esbuild';

import { findModuleFiles } from './find-module-files.ts';

export interface ControllersBundleOptions {
  /** The `root` of `controllersPlugin`, as a path. */
  readonly root: string;
}

/** The file to replace: TypeScript in the sources, JavaScript in the published package. */
const LOADER = path.join(import.meta.dirname, `load-modules${path.extname(import.meta.filename)}`);

/**
 * Bundles the controllers below `root`, so that `controllersPlugin({ root })` finds them in a bundle,
 * where there is no source folder.
 *
 * ```ts
 * await build({ entryPoints: ['src/main.ts'], bundle: true, plugins: [controllers({ root: 'src' })] });
 * ```
 *
 * @throws {Error} if there is no controller below `root`
 */
export function controllers({ root }: ControllersBundleOptions): Plugin {
  return {
    name: 'fw-controllers',
    setup({ onLoad, initialOptions }) {
      const folder = path.resolve(initialOptions.absWorkingDir ?? '.', root);
      onLoad({ filter: /[\\/]load-modules\.[jt]s$/ }, async ({ path: file }) => {
        if (file !== LOADER) return undefined;
        const files = await findModuleFiles(folder);
        if (files.length === 0) {
          throw new Error(
            `Cannot find a controller in root "${root}": expected classes marked with @Controller`,
          );
        }
        const imports = files.map((name) => `import(${JSON.stringify(name)})`).join(', ');
        return {
          contents: `export const loadModules = () => Promise.all([${imports}]);`,
          loader: 'js',
          resolveDir: folder,
          watchDirs: [folder],
          watchFiles: files,
        };
      });
    },
  };
}
