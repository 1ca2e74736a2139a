import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { afterAll, expect, test } from 'vitest';

const main = path.join(import.meta.dirname, 'main.ts');
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'create-main-'));
afterAll(() => fs.rmSync(folder, { recursive: true }));

function run(...args: readonly string[]) {
  return spawnSync(process.execPath, [main, ...args], { cwd: folder, encoding: 'utf8' });
}

test.each([
  [[], 'Expected a folder, as in "create-fw my-service"'],
  [['one', 'two'], 'Expected one folder, got "two" too'],
  [['one', '--unknown'], "Unknown option '--unknown'; see create-fw --help"],
  [['one', '--packages'], "Option '--packages <value>' argument missing; see create-fw --help"],
  [['one', '--resource', 'Ticket'], '--resource is "Ticket": expected 2 to 20 lower-case letters'],
  [['one', '--resource', 'class'], '--resource is "class", which is reserved'],
  [['one', '--resource', 'sheep/sheep'], '--resource is "sheep/sheep": expected one word'],
  [['one', '--resource', 'a/b/c'], '--resource is "a/b/c": expected one word such as ticket'],
  [['one'], 'Cannot find the packages of fw: expected --packages FOLDER'],
])('create-fw %j prints one line, exits with 2 and writes nothing', (args, message) => {
  const { status, stdout, stderr } = run(...args);

  expect(status).toBe(2);
  expect(stdout).toBe('');
  expect(stderr).toMatch(/^[^\n]+\n$/);
  expect(stderr).toContain(message);
  expect(fs.readdirSync(folder)).toEqual([]);
});

test('create-fw with Node 20 prints one line and writes nothing', () => {
  const old =
    "data:text/javascript,Object.defineProperty(process, 'versions', { value: { node: '20.19.0' } })";
  const { status, stderr } = spawnSync(process.execPath, ['--import', old, main, 'one'], {
    cwd: folder,
    encoding: 'utf8',
  });

  expect(status).toBe(2);
  expect(stderr).toMatch(
    /^create-fw needs Node 24 or later, got 20\.19\.0: https:\/\/nodejs\.org\/en\/download\n$/,
  );
  expect(fs.readdirSync(folder)).toEqual([]);
});

test('create-fw --help prints the arguments, and --version the version', () => {
  const help = run('--help');
  const version = run('--version');

  expect(help.stdout).toContain(
    'Usage: create-fw FOLDER [--resource WORD] [--chart] [--packages FOLDER]',
  );
  expect(version.stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  expect([help.status, version.status]).toEqual([0, 0]);
});
