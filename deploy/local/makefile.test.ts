import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

import { expect, test } from 'vitest';

import { folders } from './state.ts';

const { root } = folders;

/** What `make` would run, without running it; its standard error too, where it refuses. */
function dryRun(...args: readonly string[]): string {
  return execFileSync('make', ['--dry-run', ...args], { cwd: root, encoding: 'utf8' });
}

const documents = fs
  .globSync(['*.md', 'deploy/*.md', 'docs/*.md', '{framework,services}/*/README.md'], { cwd: root })
  .sort();

/** The commands that the documents show: `make token USER=ada`, in a block or in the text. */
const commands = new Set(
  documents.flatMap((file) => {
    const text = fs.readFileSync(path.join(root, file), 'utf8');
    const shown = text.matchAll(
      /(?<=^|`|\$\()make ((?:--silent )?[a-z0-9-]+(?: [A-Z_]+=[^\s`)]+)*)/gm,
    );
    return [...shown].map(([, command = '']) => command);
  }),
);

test.each([...commands].sort())('make %s, which the documents show, is there', (command) => {
  expect(() => dryRun(...command.split(' '))).not.toThrow();
});

test('help names every target that a user may call, in lines that a terminal holds', () => {
  const lines = execFileSync('make', ['--silent', 'help'], { cwd: root, encoding: 'utf8' })
    .trim()
    .split('\n');
  const names = lines.map((line) => line.split(' ')[0]);

  expect(names).toEqual(
    expect.arrayContaining(['up', 'down', 'test', 'token', 'import', 'config']),
  );
  expect(lines.filter((line) => line.length > 100)).toEqual([]);
});

test('the name in a token is what make was given, not what the shell calls its user', () => {
  expect(dryRun('token')).toContain('--user ada --tier free');
  expect(dryRun('token', 'USER=bob', 'TIER=pro')).toContain('--user bob --tier pro');
});
