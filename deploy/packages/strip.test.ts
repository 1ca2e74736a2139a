import { expect, test } from 'vitest';

import { javaScriptOf, withJavaScriptImports } from './strip.ts';

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

test('JavaScript has every statement in its line of the source, without types', () => {
  const source =
    "import { type A, b } from './b.ts';\ninterface C { c: A }\nexport const c: C = b;\n";

  const lines = javaScriptOf(source).split('\n');

  expect(lines).toEqual(["import { b } from './b.js';", '', 'export const c = b;', '']);
});

test('JavaScript keeps the spaces at the end of the lines of a template', () => {
  expect(javaScriptOf('const a = `b  \nc`;\n')).toBe('const a = `b  \nc`;\n');
});
