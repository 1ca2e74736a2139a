import { stripTypeScriptTypes } from 'node:module';

import type { Program } from './project.ts';

/** The same program as a module in JavaScript. */
export function asModule({ name, code }: Program): Program {
  const script = stripTypeScriptTypes(code).replace(/(from '\.[^']*)\.ts'/g, "$1.js'");
  return { name: name.replace(/\.ts$/, '.js'), code: script };
}

/** The same program in CommonJS: `require` and `exports` instead of `import` and `export`. */
export function asCommonJs(program: Program): Program {
  const { name, code } = asModule(program);
  const exported: string[] = [];
  const required = code
    .replace(/^import (\{[^}]*\}) from ('[^']+');/gm, 'const $1 = require($2);')
    .replace(/(require\('\.[^']*)\.js'/g, "$1.cjs'")
    .replace(/^export (function|const) (\w+)/gm, (_match, kind, exportedName) => {
      exported.push(exportedName);
      return `${kind} ${exportedName}`;
    });
  return {
    name: name.replace(/\.js$/, '.cjs'),
    code: `'use strict';\n${required}\nmodule.exports = { ${exported.join(', ')} };\n`,
  };
}
