import { isBuiltin } from 'node:module';

import type { Plugin } from 'esbuild';

/**
 * Takes from Node's own modules only what a bundle uses of them. An `import` of one makes a namespace
 * of all its exports and runs every lazy getter among them: of `node:http` one loads a whole HTTP
 * client, for 70 ms and 17 MB; of `node:crypto` one loads Web Crypto.
 */
export function lazyBuiltins(): Plugin {
  return {
    name: 'fw-lazy-builtins',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^(?:node:)?[a-z_]+(?:\/[a-z_]+)*$/ }, ({ path, kind }) =>
        kind === 'import-statement' && isBuiltin(path)
          ? { path: path.replace(/^(?:node:)?/, 'node:'), namespace: 'builtin', sideEffects: false }
          : undefined,
      );
      onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path }) => ({ contents: moduleOf(path) }));
    },
  };
}

/** Each export by itself, marked so that those that nobody imports are left out of the bundle. */
function moduleOf(name: string): string {
  const names = Object.keys(process.getBuiltinModule(name) ?? {}).filter(
    (key) => key !== 'default' && /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(key),
  );
  return [
    `const builtin = process.getBuiltinModule(${JSON.stringify(name)});`,
    'const pick = (name) => builtin[name];',
    'export default builtin;',
    ...names.map((key) => `export const ${key} = /* @__PURE__ */ pick(${JSON.stringify(key)});`),
  ].join('\n');
}
