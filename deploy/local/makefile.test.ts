import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

import { expect, test } from 'vitest';

import { folders } from './state.ts';

const { root } = folders;

/** The commands that `make` would run. */
function dryRun(...args: readonly string[]): string {
  return execFileSync('make', ['--dry-run', ...args], { cwd: root, encoding: 'utf8' });
}

const documents = fs
  .globSync(['*.md', 'deploy/*.md', 'docs/**/*.md', '{framework,services}/*/README.md'], {
    cwd: root,
  })
  .sort();

/** The make commands in the documents, such as `make token USER=ada`. */
const commands = new Set(
  documents.flatMap((file) => {
    const text = fs.readFileSync(path.join(root, file), 'utf8');
    const shown = text.matchAll(
      /(?<=^|`|\$\()make ((?:--silent )?[a-z0-9-]+(?: [A-Z_]+=[^\s`)]+)*)/gm,
    );
    return [...shown].map(([, command = '']) => command);
  }),
);

test.each([...commands].sort())('make %s exists, as the documents say', (command) => {
  expect(() => dryRun(...command.split(' '))).not.toThrow();
});

test('help lists the targets for users, in lines of at most 100 characters', () => {
  const lines = execFileSync('make', ['--silent', 'help'], { cwd: root, encoding: 'utf8' })
    .trim()
    .split('\n');
  const names = lines.map((line) => line.split(' ')[0]);

  expect(names).toEqual(
    expect.arrayContaining(['up', 'down', 'test', 'token', 'import', 'config']),
  );
  expect(lines.filter((line) => line.length > 100)).toEqual([]);
});

test('breaking writes the documents before it compares them', () => {
  const commands = dryRun('breaking');

  expect(commands).toMatch(/documents\.test\.ts[\s\S]+deploy\/openapi\/breaking\.ts/);
});

test('the user of a token is the make variable USER, not that of the shell', () => {
  expect(dryRun('token')).toContain('--user ada --tier free');
  expect(dryRun('token', 'USER=bob', 'TIER=pro')).toContain('--user bob --tier pro');
});
