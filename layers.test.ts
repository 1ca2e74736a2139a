import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

/** What each package may import of ours; its tests may import anything. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  '@fw/core': [],
  '@fw/errors': ['@fw/core'],
  '@fw/router': ['@fw/core'],
  '@fw/body-parser': ['@fw/core', '@fw/errors'],
  '@fw/validation': ['@fw/core', '@fw/errors'],
  '@fw/rate-limit': ['@fw/core', '@fw/errors'],
  '@fw/middleware': ['@fw/core', '@fw/errors'],
  '@fw/openapi': ['@fw/core', '@fw/router'],
  '@fw/controllers': ['@fw/core', '@fw/router', '@fw/validation'],
  fw: ['@fw/core', '@fw/router', '@fw/errors'],
};
/** Packages that may import all of the above by their public entries. */
const OVER_ALL = ['@fw/service', '@fw/users', '@fw/catalog', '@fw/reports'];

/** They may import anything. */
const PROGRAMS = ['framework/examples'];

interface Package {
  readonly name: string;
  readonly folder: string;
  readonly dependencies: readonly string[];
  readonly imports: readonly { readonly file: string; readonly specifier: string }[];
}

const packages = ['framework', 'services']
  .flatMap((parent) =>
    readdirSync(join(import.meta.dirname, parent), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => join(parent, name)),
  )
  .filter((folder) => !PROGRAMS.includes(folder))
  .map(readPackage);

function readPackage(folder: string): Package {
  const root = join(import.meta.dirname, folder);
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter(
    (file) => /(?<!\.test|\.d)\.ts$/.test(file) && !/(?:^|\/)(?:fixtures?|testing)\b/.test(file),
  );
  return {
    name: manifest.name,
    folder,
    dependencies: Object.keys(manifest.dependencies ?? {}),
    imports: sources.flatMap((file) =>
      [
        ...readFileSync(join(root, 'src', file), 'utf8').matchAll(
          /^(?:import\s+|(?:import|export)[^'"]*?\bfrom\s+)['"]([^'"]+)['"]/gm,
        ),
      ].map(([, specifier = '']) => ({ file: join(folder, 'src', file), specifier })),
    ),
  };
}

function isOurs(specifier: string): boolean {
  return specifier === 'fw' || specifier.startsWith('@fw/');
}

function packageOf(specifier: string): string {
  return specifier === 'fw' ? specifier : specifier.split('/').slice(0, 2).join('/');
}

describe.each(packages.map((pack) => [pack.name, pack] as const))('%s', (name, pack) => {
  test('imports only what lies below it', () => {
    const allowed = OVER_ALL.includes(name)
      ? [...Object.keys(MAY_IMPORT), '@fw/service']
      : (MAY_IMPORT[name] ?? []);

    const wrong = pack.imports
      .filter(({ specifier }) => isOurs(specifier) && packageOf(specifier) !== name)
      .filter(({ specifier }) => !allowed.includes(packageOf(specifier)));

    expect(wrong).toEqual([]);
  });

  test('reaches no other package by a relative path', () => {
    const wrong = pack.imports.filter(
      ({ file, specifier }) =>
        specifier.startsWith('.') &&
        !join(file, '..', specifier).startsWith(join(pack.folder, 'src')),
    );

    expect(wrong).toEqual([]);
  });

  test('names the packages of this repository that it imports as dependencies', () => {
    const used = new Set(
      pack.imports
        .map(({ specifier }) => specifier)
        .filter(isOurs)
        .map(packageOf)
        .filter((used) => used !== name),
    );

    expect([...used].filter((used) => !pack.dependencies.includes(used))).toEqual([]);
  });
});

test('no framework package but @fw/service has a run-time dependency outside this repository', () => {
  const outside = packages
    .filter(({ name }) => !OVER_ALL.includes(name))
    .flatMap(({ name, dependencies }) =>
      dependencies.filter((d) => !isOurs(d)).map((d) => `${name}: ${d}`),
    );

  expect(outside).toEqual([]);
});

test('the sources are read: the router imports the core', () => {
  const router = packages.find(({ name }) => name === '@fw/router');

  expect(router?.imports.map(({ specifier }) => specifier)).toContain('@fw/core');
});
