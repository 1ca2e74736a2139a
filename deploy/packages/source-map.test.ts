import { SourceMap } from 'node:module';

import { expect, test } from 'vitest';

import { declarationMapOf, sourceMapOf } from './source-map.ts';

test('a source map names a line of the source for every line of the JavaScript', () => {
  expect(JSON.parse(sourceMapOf('a;\nb;\n', '../src/a.ts'))).toEqual({
    version: 3,
    sources: ['../src/a.ts'],
    names: [],
    mappings: 'AAAA;AACA;AACA',
  });
});

test('a declaration map has the position of the first name of every line', () => {
  // The compiler's map of: export function read(\n  text: string,\n): number { … }
  const map = {
    version: 3,
    sources: ['../src/read.ts'],
    names: [],
    mappings: 'AAAA,wBAAgB,IAAI,CAClB,IAAI,EAAE,MAAM,GACX,MAAM,CAER',
  };
  const declarations = 'export declare function read(text: string): number;\n';

  const shortened = JSON.parse(declarationMapOf(declarations, JSON.stringify(map)));
  const position = new SourceMap(shortened).findEntry(0, declarations.indexOf('read'));

  expect(shortened.sources).toEqual(['../src/read.ts']);
  expect(position).toMatchObject({ originalLine: 0, originalColumn: 16 });
});
