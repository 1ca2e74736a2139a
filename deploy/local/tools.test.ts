import { execFileSync, spawnSync } from 'node:child_process';
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
      'Cannot bring "mongodb": expected one of nginx, redis, chromium, postgres, wrk, helm, k6, kube-score\n',
  });
});
