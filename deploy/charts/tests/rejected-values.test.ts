import fs from 'node:fs';
import path from 'node:path';

import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { SERVICE_NAMES } from '../../../services/services.ts';

import { onlyService } from './platform.ts';
import { charts, type Values } from './render.ts';

/** Values that a chart rejects, with the line that it prints. */
interface Rejected {
  readonly name: string;
  readonly values: Values;
  readonly message: string;
}

const TABLES = path.join(import.meta.dirname, 'rejected-values');

/** The services that the tables name: a further one would change messages of the platform. */
const NAMED = ['users', 'catalog', 'reports'];
const UNNAMED = Object.fromEntries(
  SERVICE_NAMES.filter((name) => !NAMED.includes(name)).map((name) => [name, { enabled: false }]),
);

const cases = [...SERVICE_NAMES, 'platform'].flatMap((chart) => {
  const rows: Rejected[] = parse(fs.readFileSync(path.join(TABLES, `${chart}.yaml`), 'utf8'));
  const others = chart === 'platform' ? UNNAMED : {};
  return rows.map((row) => ({ chart, ...row, values: { ...others, ...row.values } }));
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

test('all invalid combinations of values are printed at once', () => {
  const { stderr } = charts.helm(['template', 'fw', 'users', '--values', '-'], {
    store: { type: 'postgres' },
    ingress: { enabled: true },
  });

  expect(stderr).toContain('users: store.type is postgres, but');
  expect(stderr).toContain('users: ingress.enabled is true, but ingress.hosts is empty');
});

test('the message about an unknown key lists the valid keys', () => {
  const { stderr } = charts.helm(['template', 'fw', 'users', '--values', '-'], {
    store: { sqlite: { storageclass: 'fast' } },
  });

  expect(stderr).toContain("at '/store/sqlite': additional properties 'storageclass' not allowed");
  expect(stderr).toContain(
    "value must be one of 'size', 'storageClass', 'existingClaim', 'ephemeral', 'fsGroup'",
  );
});

test('the platform rejects values without any service', () => {
  const { stderr } = charts.helm(['template', 'fw', 'platform', '--values', '-'], onlyService(''));

  const keys = SERVICE_NAMES.map((name) => `${name}.enabled`).join(', ');
  expect(stderr).toContain(`no service is enabled: expected at least one of ${keys} to be true`);
});

test.each([
  ['a'.repeat(44), 'is too long for the names of its objects: expected 43 characters or fewer'],
  ['users-catalog', 'would be the name of users and catalog: expected a name that contains one of'],
  [
    'edge-of-reports',
    'would be the name of reports and edge: expected a name that contains one of',
  ],
])('the platform rejects the release name %s', (release, sentence) => {
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
])('no message repeats the password of %s', (url) => {
  const { stderr } = charts.helm(['template', 'fw', 'users', '--values', '-'], {
    store: { type: 'postgres', postgres: { url } },
  });

  expect(stderr).toContain('store.postgres.url is not a valid address');
  expect(stderr).not.toContain('love1815');
});

test.each([
  'postgres://db/users',
  'postgresql://ada:lo%23ve!$@db.example.org:6432/users?sslmode=verify-full&sslrootcert=/ca.pem',
  'postgres://ada:love@[fd00::17]:5432/users',
])('%s is a valid address of a database', (url) => {
  const { status, stderr } = charts.helm(['template', 'fw', 'users', '--values', '-'], {
    store: { type: 'postgres', postgres: { url } },
  });

  expect(status, stderr).toBe(0);
});
