import fs from 'node:fs';
import path from 'node:path';

import { describe, expect, test } from 'vitest';

import { SERVICE_NAMES, SERVICES, type ServiceName } from './services.ts';

const root = path.resolve(import.meta.dirname, '..');

function isThere(file: string): boolean {
  return fs.existsSync(path.join(root, file));
}

/**
 * Files that cannot be derived from the list, by folder. Tests of other folders check more:
 * deploy/charts/tests/service.test.ts (charts), deploy/local/processes/launch.test.ts (start page), and
 * deploy/k6/run.test.ts (journeys).
 */
const FILES = {
  services: (name: ServiceName) => [
    ...['README.md', 'package.json', 'src/main.ts', 'src/config.ts', 'src/app.ts'].map(
      (file) => `services/${name}/${file}`,
    ),
  ],
  tests: (name: ServiceName) =>
    ['v1', 'v2'].map((version) => `tests/api/${version}/${name}.test.ts`),
};

describe.each(SERVICES)('the service $name', ({ name, versions, calls }) => {
  test('has a folder with the common structure', () => {
    const files = [
      ...FILES.services(name),
      ...versions.map((version) => `services/${name}/src/${version}.ts`),
    ];

    const missing = files.filter((file) => !isThere(file));
    expect(missing, 'add these files, or remove the service from services.ts').toEqual([]);
  });

  test('has an OpenAPI document of each version', () => {
    const files = versions.map((version) => `services/${name}/openapi/${version}.json`);

    expect(
      files.filter((file) => !isThere(file)),
      'run make documents',
    ).toEqual([]);
  });

  test.runIf(isThere('tests'))('has tests of each version', () => {
    const missing = FILES.tests(name).filter((file) => !isThere(file));

    expect(missing, 'add these files').toEqual([]);
  });

  test('calls only services that precede it in the list', () => {
    const earlier = SERVICE_NAMES.slice(0, SERVICE_NAMES.indexOf(name));

    expect(calls.filter((other) => !earlier.includes(other))).toEqual([]);
  });
});

test('every folder of services/ is in services.ts', () => {
  const folders = fs
    .readdirSync(import.meta.dirname, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);

  expect(folders.sort(), 'add the folder to SERVICES in services/services.ts').toEqual(
    SERVICE_NAMES.toSorted(),
  );
});
