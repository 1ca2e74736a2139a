import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { expect, test } from 'vitest';

import { findTool, newestFirst } from './tools.ts';

test('the newest of several versions comes first, by number and not by letter', () => {
  expect(newestFirst(['/opt/postgresql@9', '/opt/postgresql@18'])).toEqual([
    '/opt/postgresql@18',
    '/opt/postgresql@9',
  ]);
});

test('the server of PostgreSQL is found where Debian keeps it, beside what makes its data', () => {
  const postgres = findTool('postgres') ?? '';

  expect(execFileSync(postgres, ['--version'], { encoding: 'utf8' })).toContain('PostgreSQL');
  expect(
    execFileSync(path.join(path.dirname(postgres), 'initdb'), ['--version'], { encoding: 'utf8' }),
  ).toContain('PostgreSQL');
});

test('a tool that is there already is not installed, and an unknown one is named', () => {
  const bring = (name: string) =>
    spawnSync(process.execPath, [path.join(import.meta.dirname, 'tools.ts'), name], {
      encoding: 'utf8',
    });

  expect(bring('postgres')).toMatchObject({ status: 0, stdout: '', stderr: '' });
  expect(bring('mongodb')).toMatchObject({
    status: 1,
    stderr:
      'Cannot bring "mongodb": expected one of nginx, redis, chromium, postgres, wrk, helm, helm3, k6, kube-score\n',
  });
});

test('where a program of a Go module cannot be had, one line says which and how to get it', () => {
  // A checkout of its own, in which nothing has been built.
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'tools-'));
  const copy = path.join(root, 'deploy/local/tools.ts');
  fs.mkdirSync(path.dirname(copy), { recursive: true });
  fs.copyFileSync(path.join(import.meta.dirname, 'tools.ts'), copy);

  const bring = spawnSync(process.execPath, [copy, 'kube-score'], {
    encoding: 'utf8',
    env: { PATH: path.join(root, 'nothing') },
  });
  fs.rmSync(root, { recursive: true });

  expect(bring).toMatchObject({
    status: 1,
    stdout: '',
    stderr:
      'kube-score is missing: install it (https://github.com/zegl/kube-score#installation), ' +
      'or Go 1.26 to have it built, then run make again\n',
  });
});
