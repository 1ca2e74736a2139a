import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { expect, test } from 'vitest';

const root = import.meta.dirname;

const packages = globSync('framework/*/package.json', { cwd: root })
  .map((file) => ({
    folder: dirname(file),
    entries: Object.values<string>(
      JSON.parse(readFileSync(join(root, file), 'utf8')).exports ?? {},
    ),
  }))
  .filter(({ entries }) => entries.length > 0);

/** The exports of a module: the names of each file that declares some of them. */
function declaredBy(file: string, names?: ReadonlySet<string>): [string, ReadonlySet<string>][] {
  const source = readFileSync(join(root, file), 'utf8');
  const others = [
    ...source.matchAll(/^export (?:type )?(\*|\{[^}]*\}) from '(\.[^']+)'/gm),
  ].flatMap(([, list = '', path = '']) => {
    const listed = new Set(list.match(/\w+(?=[,\s]*(?:\}|,))/g));
    return declaredBy(join(dirname(file), path), list === '*' ? names : listed);
  });
  const own = [...source.matchAll(DECLARATION)].map(([, , name = '']) => name);
  return [[file, new Set(own.filter((name) => names?.has(name) ?? true))], ...others];
}

const DECLARATION =
  /^export (?:declare )?(?:async )?(?:abstract )?(function\*?|const|class|interface|type) (\w+)/gm;

/** A method of an interface or class, or a property that is a function: a name at two spaces. */
const METHOD = /^ {2}(?:readonly |static |async )*(\w+)\??(?:[(<]|: (?:\(|Register<|Group<))/;

/**
 * The names of `names`, and the methods of such interfaces and classes, that no doc comment precedes.
 * The name of an options type says what it is; its properties are documented one by one.
 */
function undocumented(source: string, names: ReadonlySet<string>): string[] {
  const lines = source.split('\n');
  const seen = new Set<string>();
  const missing: string[] = [];
  let owner = '';
  for (const [index, line] of lines.entries()) {
    const [, kind = '', name = ''] = new RegExp(DECLARATION.source).exec(line) ?? [];
    if (/^\S/.test(line)) owner = /interface|class/.test(kind) && names.has(name) ? name : '';
    const [, method = 'constructor'] = (owner && METHOD.exec(line)) || [];
    const subject = method === 'constructor' ? name : `${owner}.${method}`;
    const isPublic = subject !== name || (names.has(name) && !name.endsWith('Options'));
    if (!isPublic || seen.has(subject)) continue;
    seen.add(subject); // the first of several overloads has the comment
    if (!lines[index - 1]?.trim().endsWith('*/')) missing.push(subject);
  }
  return missing;
}

test.each(packages)(
  '$folder has a doc comment on every export and on their methods',
  ({ folder, entries }) => {
    const files = entries.flatMap((entry) => declaredBy(join(folder, entry)));

    const missing = files.flatMap(([file, names]) =>
      undocumented(readFileSync(join(root, file), 'utf8'), names).map((name) => `${file}: ${name}`),
    );

    expect([...new Set(missing)]).toEqual([]);
  },
);

test('exports and methods without a doc comment are found', () => {
  const source = [
    'export function first(): void {',
    '/** Documented. */',
    'export interface Shape {',
    '  readonly area: number;',
    '  scale(factor: number): this;',
    '  readonly get: Register<[]>;',
    '}',
    'export interface OtherOptions {',
    'function internal(): void {',
  ].join('\n');

  const missing = undocumented(source, new Set(['first', 'Shape', 'OtherOptions']));

  expect(missing).toEqual(['first', 'Shape.scale', 'Shape.get']);
});

test('the exports of an entry are found in the files that declare them', () => {
  const names = declaredBy('framework/core/src/index.ts').flatMap(([, own]) => [...own]);

  expect(names).toEqual(expect.arrayContaining(['createApp', 'Context', 'listen', 'HttpError']));
  expect(names).not.toContain('TreeRouter');
});
