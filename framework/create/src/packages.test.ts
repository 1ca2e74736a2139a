import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { findPackages } from './packages.ts';

/** The folder of create-fw in a project whose lock file names this source. */
function installedFrom(resolved: string | undefined, name = 'create-fw') {
  const project = fs.mkdtempSync(path.join(os.tmpdir(), 'create-packages-'));
  onTestFinished(() => fs.rmSync(project, { recursive: true }));
  const installed = path.join(project, 'node_modules', name);
  fs.mkdirSync(installed, { recursive: true });
  fs.writeFileSync(
    path.join(installed, 'package.json'),
    JSON.stringify({ name, version: '0.2.0' }),
  );
  if (resolved !== undefined) {
    const lock = { packages: { 'node_modules/create-fw': { resolved } } };
    const file = path.join(project, 'node_modules/.package-lock.json');
    fs.writeFileSync(file, JSON.stringify(lock));
  }
  return { project, installed };
}

test('the packages are next to the tarball from which npm installed create-fw', () => {
  const { project, installed } = installedFrom('file:../fw/packages/create-fw-0.1.0.tgz');

  expect(findPackages(installed)).toEqual({ packages: path.resolve(project, '../fw/packages') });
});

test('the packages of a create-fw with a scope are those of its release', () => {
  const { installed } = installedFrom(undefined, '@acme/create-fw');

  expect(findPackages(installed)).toEqual({ scope: '@acme', version: '0.2.0' });
});

test.each([
  ['npm linked', 'file:../fw/framework/create'],
  ['npm installed from a registry', 'https://registry.example.org/create-fw/-/create-fw-0.1.0.tgz'],
  ['npm did not install', undefined],
])('the packages of a program that %s must be named', (_, resolved) => {
  const { installed } = installedFrom(resolved);

  expect(() => findPackages(installed)).toThrow(
    'Cannot find the packages of fw: expected --packages FOLDER',
  );
});
