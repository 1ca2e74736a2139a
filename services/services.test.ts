import fs from 'node:fs';

import { expect, test } from 'vitest';

import { SERVICE_NAMES, SERVICES } from './services.ts';

test('every folder of services/ is in services.ts', () => {
  const folders = fs
    .readdirSync(import.meta.dirname, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);

  expect(folders.sort(), 'add the folder to SERVICES in services/services.ts').toEqual(
    SERVICE_NAMES.toSorted(),
  );
});

test.each(SERVICES)('$name calls only services that precede it in the list', ({ name, calls }) => {
  const earlier = SERVICE_NAMES.slice(0, SERVICE_NAMES.indexOf(name));

  expect(calls.filter((other) => !earlier.includes(other))).toEqual([]);
});
