import fs from 'node:fs';
import path from 'node:path';

import { afterAll, expect, test } from 'vitest';

import { NEEDED, packCharts } from './testing/render.ts';

const charts = packCharts();
afterAll(() => charts[Symbol.dispose]());

/** Values that each begin with the sentence that refuses them. */
const REFUSED = path.join(import.meta.dirname, 'testing/refused');

const files = fs.globSync('*/*.yaml', { cwd: REFUSED }).sort();

test.each(files)('%s is refused with its sentence', (file) => {
  const [remark = ''] = fs.readFileSync(path.join(REFUSED, file), 'utf8').split('\n');
  const sentence = remark.replace(/^# /, '');

  const { status, stdout, stderr } = charts.helm([
    'template',
    'fw',
    path.dirname(file),
    '--values',
    path.join(REFUSED, file),
  ]);

  expect(status).not.toBe(0);
  expect(stdout).toBe('');
  expect(stderr.split('\n').map((line) => line.replace(/^ *- /, ''))).toContain(sentence);
});

test('everything that is wrong between values is told at once', () => {
  const { stderr } = charts.helm(['template', 'fw', 'users', '--values', '-'], {
    store: { type: 'postgres' },
    ingress: { enabled: true },
  });

  expect(stderr).toContain('users: store.type is postgres');
  expect(stderr).toContain('users: ingress.enabled is true and ingress.host is not set');
});

test('a misspelled name is told with the names that there are', () => {
  const { stderr } = charts.helm(['template', 'fw', 'users', '--values', '-'], {
    store: { sqlite: { storageclass: 'fast' } },
  });

  expect(stderr).toContain("at '/store/sqlite': additional properties 'storageclass' not allowed");
  expect(stderr).toContain(
    "value must be one of 'size', 'storageClass', 'existingClaim', 'ephemeral', 'fsGroup'",
  );
});

test.each([
  ['a'.repeat(44), 'that would be too long: expected 43 characters or fewer'],
  ['users-catalog', 'made for users, catalog would be too: expected a name that holds one of'],
  ['edge-of-reports', 'made for reports, edge would be too: expected a name that holds one of'],
])('a platform named %s is refused', (release, sentence) => {
  const { status, stderr } = charts.helm(['template', release, 'platform']);

  expect(status).not.toBe(0);
  expect(stderr).toContain(sentence);
});

test('no message repeats a secret', () => {
  const secret = 'mysql://ada:love1815@db/users';
  const { stderr } = charts.helm(['template', 'fw', 'users', '--values', '-'], {
    ...NEEDED.users,
    store: { type: 'postgres', postgres: { url: secret } },
  });

  expect(stderr).toContain('store.postgres.url');
  expect(stderr).not.toContain('love1815');
});
