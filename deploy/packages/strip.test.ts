import { expect, test } from 'vitest';

import { javaScriptOf, sourceMapOf, withJavaScriptImports } from './strip.ts';

test.each([
  ["import { a } from './a.ts';", "import { a } from './a.js';"],
  ["import './a/b.ts';", "import './a/b.js';"],
  ['export * from "../a.ts";', 'export * from "../a.js";'],
  ["await import('./a.ts')", "await import('./a.js')"],
  ["type A = import('./a.ts').A;", "type A = import('./a.js').A;"],
  ["import { a } from '@fw/core';", "import { a } from '@fw/core';"],
  ["const entry = './a.ts';", "const entry = './a.ts';"],
])('the imports of %s become those of JavaScript', (code, expected) => {
  expect(withJavaScriptImports(code)).toBe(expected);
});

test('JavaScript has every statement in the line and column of the source', () => {
  const source =
    "import { type A, b } from './b.ts';\ninterface C { c: A }\nexport const c: C = b;\n";

  const lines = javaScriptOf(source).split('\n');

  expect(lines).toEqual([
    "import {         b } from './b.js';",
    ' '.repeat('interface C { c: A }'.length),
    'export const c    = b;',
    '',
  ]);
});

test('a source map names a line of the source for every line of the JavaScript', () => {
  expect(JSON.parse(sourceMapOf('a;\nb;\n', '../src/a.ts'))).toEqual({
    version: 3,
    sources: ['../src/a.ts'],
    names: [],
    mappings: 'AAAA;AACA;AACA',
  });
});
