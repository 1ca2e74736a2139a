import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { newFolder } from '@fw/service/testing/vitest';
import { expect, test } from 'vitest';

import { readBaseline } from './baseline.ts';
import { compareDocuments, printReports } from './breaking.ts';

const PROGRAM = path.join(import.meta.dirname, 'breaking.ts');

/** A document with one operation, whose parameter `limit` has this maximum. */
function documentOf(maximum: number) {
  const limit = { name: 'limit', in: 'query', schema: { type: 'integer', maximum } };
  const get = { parameters: [limit], responses: { 200: { description: 'OK' } } };
  return { openapi: '3.1.1', info: { title: 'Users', version: '1' }, paths: { '/users': { get } } };
}

function writeDocument(root: string, maximum: number): void {
  const folder = path.join(root, 'services/users/openapi');
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(path.join(folder, 'v1.json'), JSON.stringify(documentOf(maximum)));
}

function git(root: string, ...args: readonly string[]): void {
  const author = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com'];
  execFileSync('git', [...author, ...args], { cwd: root, stdio: 'ignore' });
}

/** A repository with a commit for each tag; the maximum of `limit` is the number after it. */
function newRepository(releases: Readonly<Record<string, number>>): string {
  const root = newFolder('fw-breaking-');
  git(root, 'init');
  for (const [tag, maximum] of Object.entries(releases)) {
    writeDocument(root, maximum);
    commit(root, tag);
  }
  return root;
}

function commit(root: string, tag: string): void {
  git(root, 'add', '.');
  git(root, 'commit', '--message', tag);
  git(root, 'tag', tag);
}

function compare(root: string, { against = '', isRetired = false } = {}): string {
  const baseline = readBaseline(root, against);
  if (!baseline) return 'no release';
  return `${baseline.name}\n${printReports(compareDocuments(root, baseline, () => isRetired))}`;
}

test('the files are compared with the highest release', () => {
  const root = newRepository({ 'v1.9.0': 70, 'v1.10.0': 90, 'v1.9.1': 80, 'v2-draft': 60 });
  writeDocument(root, 50);

  expect(compare(root).split('\n')).toEqual([
    'v1.10.0',
    'users v1',
    '  GET /users',
    '    for the `query` request parameter `limit`, the max was decreased from `90.00` to `50.00`',
  ]);
});

test('a commit or a folder replaces the release', () => {
  const root = newRepository({ 'v1.0.0': 50, 'v1.1.0': 60 });
  const other = newFolder('fw-breaking-');
  writeDocument(other, 100);

  expect(compare(root, { against: 'HEAD~1' })).toBe('HEAD~1\n');
  expect(compare(root, { against: other })).toContain('decreased from `100.00` to `60.00`');
  expect(() => compare(root, { against: 'v9' })).toThrow(
    'Cannot compare with "v9": expected a tag, a commit or a folder with services/',
  );
});

test('a version may be removed after its sunset only', () => {
  const root = newRepository({ 'v1.0.0': 50 });
  fs.rmSync(path.join(root, 'services'), { recursive: true });

  expect(compare(root)).toContain('the version is removed, and V1_SUNSET is not set');
  expect(compare(root, { isRetired: true })).toBe('v1.0.0\n');
});

test('an unknown commit and an invalid day fail in one line, with the exit code 2', () => {
  const run = (V1_SUNSET: string, ...args: readonly string[]) =>
    spawnSync(process.execPath, [PROGRAM, ...args], {
      encoding: 'utf8',
      env: { ...process.env, V1_SUNSET },
    });

  expect(run('', '--against', 'no-such-commit')).toMatchObject({
    status: 2,
    stderr: expect.stringMatching(/^Cannot compare with "no-such-commit": .+\n$/),
  });
  expect(run('banana')).toMatchObject({
    status: 2,
    stderr: 'V1_SUNSET must be a day such as 2027-12-31, got "banana"\n',
  });
});
