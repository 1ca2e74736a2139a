import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { expect, test } from 'vitest';

const framework = join(import.meta.dirname, 'framework');
const packages = readdirSync(framework)
  .filter((folder) => !['examples', 'fw'].includes(folder))
  .map((folder) => {
    const read = (file: string) => readFileSync(join(framework, folder, file), 'utf8');
    // The error classes and the router of core are documented by the packages that export them too.
    const others = folder === 'core' ? ['../errors/README.md', '../router/README.md'] : [];
    const readme = ['README.md', ...others].map(read).join('\n');
    return { folder, entries: JSON.parse(read('package.json')).exports, readme };
  });

const DECLARATION =
  /^export (?:declare )?(?:async )?(?:abstract )?(?:function\*?|const|class|interface|type) (\w+)/gm;

/** The names that a module exports, types included. */
function exportsOf(file: string): string[] {
  const source = readFileSync(file, 'utf8');
  const declared = [...source.matchAll(DECLARATION)].map(([, name = '']) => name);
  const listed = [...source.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, list = '']) =>
    list.split(',').map((item) => item.trim().replace(/^type |^.* as /g, '')),
  );
  const all = [...source.matchAll(/^export \* from '(\.[^']+)'/gm)].flatMap(([, path = '']) =>
    exportsOf(join(dirname(file), path)),
  );
  return [...declared, ...listed, ...all].filter((name) => name !== '');
}

/** The exports of all entries of a package that its README does not contain as code. */
function undocumented({ folder, entries, readme }: (typeof packages)[number]): string[] {
  const code = [...readme.matchAll(/^```.*?^```|`[^`]+`/gms)].map(([text]) => text).join('\n');
  return [
    ...new Set(
      Object.values<string>(entries).flatMap((entry) => exportsOf(join(framework, folder, entry))),
    ),
  ].filter((name) => !new RegExp(`\\b${name}\\b`).test(code));
}

test.each(packages)('framework/$folder/README.md names every export', (pack) => {
  expect(undocumented(pack), `missing in framework/${pack.folder}/README.md`).toEqual([]);
});

test('framework/core/README.md names every member of ctx', () => {
  const source = readFileSync(join(framework, 'core/src/context.ts'), 'utf8');
  const [, body = ''] = /^export interface Context.*?\{\n(.*?)^\}/ms.exec(source) ?? [];
  const members = [...body.matchAll(/^ {2}(?:readonly )?(\w+)[:(]/gm)].map(([, name]) => name);
  const readme = readFileSync(join(framework, 'core/README.md'), 'utf8');

  expect(members).toHaveLength(27);
  expect(members.filter((name) => !readme.includes(`\`ctx.${name}`))).toEqual([]);
});
