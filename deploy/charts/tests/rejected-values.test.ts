import fs from 'node:fs';
import path from 'node:path';

import { afterAll, expect, test } from 'vitest';
import { parse } from 'yaml';

import { packCharts, type Values } from './render.ts';

const charts = packCharts();
afterAll(() => charts[Symbol.dispose]());

/** Values that a chart rejects, with the line that it prints. */
interface Rejected {
  readonly name: string;
  readonly values: Values;
  readonly message: string;
}

const TABLES = path.join(import.meta.dirname, 'rejected-values');

const cases = ['users', 'catalog', 'reports', 'platform'].flatMap((chart) => {
  const rows: Rejected[] = parse(fs.readFileSync(path.join(TABLES, `${chart}.yaml`), 'utf8'));
  return rows.map((row) => ({ chart, ...row }));
});

test.each(cases)('$chart rejects $name', ({ chart, values, message }) => {
  const { status, stdout, stderr } = charts.helm(
    ['template', 'fw', chart, '--values', '-'],
    values,
  );

  expect(status).not.toBe(0);
  expect(stdout).toBe('');
  expect(stderr.split('\n').map((line) => line.replace(/^ *- /, ''))).toContain(message);
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

test.each([
  'mysql://ada:love1815@db/users',
  'postgres://ada:love1815#@db/users',
  'postgres://ada:love1815%zz@db/users',
  'postgres://ada:love1815 @db/users',
  'postgres://ada:love1815^@db/users',
  'postgres://ada:love1815@db:port/users',
  'postgres://ada:love1815@db',
])('no message repeats the secret of %s', (url) => {
  const { stderr } = charts.helm(['template', 'fw', 'users', '--values', '-'], {
    store: { type: 'postgres', postgres: { url } },
  });

  expect(stderr).toContain('store.postgres.url is no address of such a server');
  expect(stderr).not.toContain('love1815');
});

test.each([
  'postgres://db/users',
  'postgresql://ada:lo%23ve!$@db.example.org:6432/users?sslmode=verify-full&sslrootcert=/ca.pem',
  'postgres://ada:love@[fd00::17]:5432/users',
])('%s is an address of a database', (url) => {
  const { status, stderr } = charts.helm(['template', 'fw', 'users', '--values', '-'], {
    store: { type: 'postgres', postgres: { url } },
  });

  expect(status, stderr).toBe(0);
});
