import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

import { expect, test } from 'vitest';

import { SERVICE_NAMES, SERVICES } from '../../services/services.ts';
import { SHARED_FILES, withEntries } from './entries.ts';
import { planFiles, planLinks, readPorts } from './files.ts';

const root = path.resolve(import.meta.dirname, '../..');
const TICKETS = { plural: 'tickets', singular: 'ticket', port: 8_999 };

/** Runs `make service` in this checkout: every test gives it an invalid value. */
function makeService(...variables: readonly string[]) {
  const program = path.join(import.meta.dirname, 'command.ts');
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...variables], {
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

test.each([
  [['--name', 'users'], 'NAME is "users": there is already a service or package of this name'],
  [['--name', 'Orders!'], 'NAME is "Orders!": expected 2 to 20 lower-case letters, such as orders'],
  [['--name', 'tickets', '--port', '8082'], 'PORT is 8082: it is the default port of catalog'],
])('%j is rejected in one line, and nothing is written', (variables, message) => {
  expect(makeService(...variables)).toEqual({ status: 1, stdout: '', stderr: `${message}\n` });
  expect(fs.existsSync(path.join(root, 'services/tickets'))).toBe(false);
});

test('a service copies the files of users, with its own words and port', () => {
  const files = planFiles(root, TICKETS);

  expect([...files.keys()]).toEqual(
    expect.arrayContaining([
      ...['services/tickets/src/ticket.ts', 'services/tickets/src/store/postgres.ts'],
      ...['services/tickets/openapi/v2.json', 'deploy/charts/tickets/Chart.yaml'],
      ...['tests/api/v1/tickets.test.ts', 'tests/api/v2/tickets.test.ts'],
      'services/tickets/journey.ts',
    ]),
  );
  expect(files.get('services/tickets/src/config.ts')).toContain('port: 8999');
  const copied = [...files].filter(([file]) => file.includes('ticket'));
  for (const [file, text] of copied) expect(text, file).not.toMatch(/\busers\b|8081/);
});

test('the chart of a service contains the library, and the platform contains the chart', () => {
  expect([...planLinks(root, TICKETS)]).toEqual([
    ['deploy/charts/tickets/charts/common', '../../common'],
    ['deploy/charts/tickets/values.schema.json', '../common/values.schema.json'],
    ['deploy/charts/platform/charts/tickets', '../../tickets'],
  ]);
});

test('the SQLite file of a service has a mark that no other service uses', () => {
  const format = 'services/tickets/src/store/sqlite-format.ts';
  const catalogs = { ...TICKETS, plural: 'cadets', singular: 'cadet' };

  expect(planFiles(root, TICKETS).get(format)).toContain('0x66777469, // "fwti"');
  // "fwca" is that of the catalog.
  expect(planFiles(root, catalogs).get(format.replace('tickets', 'cadets'))).toContain('"fwcd"');
});

test('every shared file gets an entry of the service', () => {
  for (const shared of SHARED_FILES) {
    const text = fs.readFileSync(path.join(root, shared.file), 'utf8');
    const added = withEntries(text, shared, TICKETS);

    expect(added.length, shared.file).toBeGreaterThan(text.length);
    expect(added.match(/tickets/gi)?.length, shared.file).toBeGreaterThan(0);
  }
});

test('a shared file without an entry of users is named', () => {
  const shared = { file: 'list.ts', entry: /^users\n/m };

  expect(() => withEntries('people\n', shared, TICKETS)).toThrow(
    'Cannot add the service to list.ts: expected an entry like ^users\\n',
  );
});

test('the default ports of all services are known', () => {
  const owners = [...readPorts(root).values()];

  expect(owners).toEqual(expect.arrayContaining([...SERVICE_NAMES, 'the edge']));
  expect(readPorts(root).size).toBe(SERVICES.length + 2);
});
