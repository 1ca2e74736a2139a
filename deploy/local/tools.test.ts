import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { findTool, newestFirst } from './tools.ts';

test('newestFirst sorts versions by number', () => {
  expect(newestFirst(['/opt/postgresql@9', '/opt/postgresql@18'])).toEqual([
    '/opt/postgresql@18',
    '/opt/postgresql@9',
  ]);
});

test('findTool finds the PostgreSQL server of Debian, in the folder of initdb', () => {
  const postgres = findTool('postgres') ?? '';

  expect(execFileSync(postgres, ['--version'], { encoding: 'utf8' })).toContain('PostgreSQL');
  expect(
    execFileSync(path.join(path.dirname(postgres), 'initdb'), ['--version'], { encoding: 'utf8' }),
  ).toContain('PostgreSQL');
});

const TOOLS_PROGRAM = path.join(import.meta.dirname, 'tools.ts');

/** A folder that is removed when the test ends. */
function newFolder(): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tools-'));
  onTestFinished(() => fs.rmSync(folder, { recursive: true }));
  return folder;
}

function runTools(args: readonly string[], env: NodeJS.ProcessEnv = process.env) {
  return spawnSync(process.execPath, [TOOLS_PROGRAM, ...args], { env, encoding: 'utf8' });
}

/** The environment of a machine without Go and without the tools that Go builds. */
function machineWithoutGo() {
  const folder = newFolder();
  return { PATH: path.join(folder, 'bin'), XDG_CACHE_HOME: path.join(folder, 'cache') };
}

test('an installed tool is not installed again, and an unknown tool is an error', () => {
  expect(runTools(['postgres'])).toMatchObject({ status: 0, stdout: '', stderr: '' });
  expect(runTools(['mongodb'])).toMatchObject({
    status: 1,
    stderr:
      'Cannot install "mongodb": expected one of nginx, redis, chromium, postgres, prometheus, faketime, promtool, java, wrk, helm, helm3, k6, kube-score, toxiproxy-server, h2spec\n',
  });
});

test('without Go, the error of a missing tool contains installation instructions', () => {
  expect(runTools(['kube-score'], machineWithoutGo())).toMatchObject({
    status: 1,
    stdout: '',
    stderr:
      'kube-score is missing: install it (https://github.com/zegl/kube-score#installation), ' +
      'or install Go 1.26 and run make again to build it\n',
  });
});

test('without Go, an optional tool is skipped', () => {
  expect(runTools(['--optional', 'kube-score'], machineWithoutGo())).toMatchObject({
    status: 0,
    stdout: '',
    stderr: '',
  });
});

test('every checkout finds a built tool in the cache of the user', () => {
  const machine = machineWithoutGo();
  const built = path.join(machine.XDG_CACHE_HOME, 'fw/tools/kube-score-v1.20.0/kube-score');
  fs.mkdirSync(path.dirname(built), { recursive: true });
  fs.writeFileSync(built, '');

  expect(runTools(['kube-score'], machine)).toMatchObject({ status: 0, stdout: '', stderr: '' });
});

test('without Go and XDG_CACHE_HOME, the cache is .cache in the home directory', () => {
  const home = newFolder();
  const built = path.join(home, '.cache/fw/tools/kube-score-v1.20.0/kube-score');
  fs.mkdirSync(path.dirname(built), { recursive: true });
  fs.writeFileSync(built, '');

  const env = { PATH: path.join(home, 'bin'), HOME: home, XDG_CACHE_HOME: 'relative' };

  expect(runTools(['kube-score'], env)).toMatchObject({ status: 0, stderr: '' });
});
