import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

import { describe, expect, test } from 'vitest';

/** What the source of each package may import; `@fw/service` and the services may import all of them. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  core: [],
  client: [],
  create: [],
  errors: ['core'],
  router: ['core'],
  'body-parser': ['core', 'errors'],
  validation: ['core', 'errors'],
  'rate-limit': ['core', 'errors'],
  middleware: ['core', 'errors'],
  openapi: ['core', 'router'],
  controllers: ['core', 'router', 'validation'],
  fw: ['core', 'router', 'errors'],
};

/** The types of a service's OpenAPI document: other services may call it, but not use its code. */
const CONTRACTS = 'services/*/openapi/*.d.ts';

/** What each folder may import, tests included; `**` matches any path. */
const FOLDERS: Readonly<Record<string, readonly string[]>> = {
  framework: ['framework/**'],
  services: ['framework/**', 'services/**'],
  deploy: ['framework/**', 'services/services.ts', 'services/*/src/config.ts', 'deploy/**'],
  tools: ['framework/**', 'services/services.ts', 'services/*/src/config.ts', 'tools/**'],
  bench: ['framework/**', 'services/**', 'deploy/**', 'tools/**', 'bench/**'],
  tests: ['framework/**', 'services/**', 'deploy/**', 'tools/**', 'tests/**'],
};

/** Finds or starts programs for tests of any folder. */
const TEST_SUPPORT = ['tools/programs.ts', 'deploy/local/testing/*.ts'];
/** The life cycle of the versions, which all services share. */
const SHARED_BY_SERVICES = ['services/versions.ts'];
/** A journey sends its requests with the client of the load tests, which run it. */
const JOURNEYS = 'services/*/journey.ts';
const LOAD_CLIENT = 'deploy/k6/lib/client.ts';
/** Tests of `deploy` also read what they deploy. */
const DEPLOY_TESTS = ['services/*/src/**'];

const root = path.resolve(import.meta.dirname, '../..');
const files = fs.globSync(`{${Object.keys(FOLDERS).join(',')}}/**/*.ts`, {
  cwd: root,
  exclude: ['**/node_modules/**', '**/dist/**'],
});

/** The files of this repository that each file imports, as paths from the root; types count. */
const imports = new Map(files.map((file) => [file, readImports(file)]));

function readImports(file: string): string[] {
  const text = fs.readFileSync(path.join(root, file), 'utf8');
  const found = text.matchAll(
    /^(?:import\s+|(?:import|export)[^'"]*?\bfrom\s+)['"]([^'"]+)['"]|\bimport\(['"]([^'"]+)['"]\)/gm,
  );
  return [...found].flatMap(([, statement, call]) => resolve(statement ?? call ?? '', file) ?? []);
}

/** The file that `specifier` names; undefined for files of other packages. */
function resolve(specifier: string, from: string): string | undefined {
  const isOurs = /^(?:\.|fw$|fw\/|@fw\/)/.test(specifier);
  if (!isOurs) return undefined;
  const absolute = specifier.startsWith('.')
    ? path.resolve(root, from, '..', specifier)
    : createRequire(path.join(root, from)).resolve(specifier);
  return path.relative(root, absolute);
}

function matches(file: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => path.matchesGlob(file, pattern));
}

function isTest(file: string): boolean {
  return /\.test\.ts$|(?:^|\/)(?:fixtures?|testing|tests)(?:\/|\.)/.test(file);
}

/** The imports of `select`ed files that `isAllowed` rejects, as `from → to`. */
function rejected(
  select: (file: string) => boolean,
  isAllowed: (file: string, imported: string) => boolean,
): string[] {
  return [...imports].flatMap(([file, all]) =>
    select(file) ? all.filter((one) => !isAllowed(file, one)).map((one) => `${file} → ${one}`) : [],
  );
}

test.each(Object.entries(FOLDERS))('%s imports only %j', (folder, patterns) => {
  const wrong = rejected(
    (file) => file.startsWith(`${folder}/`),
    (file, imported) =>
      matches(imported, patterns) ||
      (isTest(file) && matches(imported, TEST_SUPPORT)) ||
      (matches(file, [JOURNEYS]) && imported === LOAD_CLIENT) ||
      (isTest(file) && folder === 'deploy' && matches(imported, DEPLOY_TESTS)),
  );

  expect(wrong).toEqual([]);
});

const services = fs
  .globSync('services/*/package.json', { cwd: root })
  .map((file) => path.dirname(file));
const frameworkPackages = fs
  .globSync('framework/*/package.json', { cwd: root })
  .map((file) => path.dirname(file))
  .filter((folder) => folder !== 'framework/examples');

describe.each([...frameworkPackages, ...services])('the source of %s', (folder) => {
  const name = path.basename(folder);
  const isSource = (file: string) => file.startsWith(`${folder}/src/`) && !isTest(file);
  const isInside = (file: string) =>
    file.startsWith(`${folder}/src/`) ||
    (services.includes(folder) && SHARED_BY_SERVICES.includes(file));

  test('imports only the packages below it', () => {
    const below = PACKAGES[name] ?? [...Object.keys(PACKAGES), 'service'];
    const patterns = below.map((one) => `framework/${one}/src/**`);
    if (folder.startsWith('services/')) patterns.push(CONTRACTS);

    expect(rejected(isSource, (_, one) => isInside(one) || matches(one, patterns))).toEqual([]);
  });

  test('imports other packages by their names, which its package.json lists', () => {
    const manifest = JSON.parse(fs.readFileSync(path.join(root, folder, 'package.json'), 'utf8'));
    const used = [...imports].flatMap(([file, all]) =>
      isSource(file) ? all.filter((one) => !isInside(one)) : [],
    );
    const unlisted = used.filter((one) => {
      const listed = matches(one, [CONTRACTS]) ? manifest.devDependencies : manifest.dependencies;
      return !Object.hasOwn(listed ?? {}, packageOf(one));
    });

    expect([...new Set(unlisted)]).toEqual([]);
    for (const file of files.filter(isSource)) {
      const text = fs.readFileSync(path.join(root, file), 'utf8');
      const relative = [...text.matchAll(/from '(\.[^']+)'/g)].map(([, one = '']) =>
        path.join(file, '..', one),
      );
      expect(relative.filter((one) => !isInside(one))).toEqual([]);
    }
  });
});

/** The name of the package that contains a file of `framework` or `services`. */
function packageOf(file: string): string {
  const [, name = ''] = file.split('/');
  return name === 'fw' ? name : `@fw/${name}`;
}

test('no framework package except service has a dependency outside this repository', () => {
  const outside = frameworkPackages
    .filter((folder) => folder !== 'framework/service')
    .flatMap((folder) => {
      const manifest = JSON.parse(fs.readFileSync(path.join(root, folder, 'package.json'), 'utf8'));
      const names = Object.keys(manifest.dependencies ?? {});
      return names
        .filter((name) => !/^(?:fw$|@fw\/)/.test(name))
        .map((name) => `${folder}: ${name}`);
    });

  expect(outside).toEqual([]);
});

test('no file imports itself through other files', () => {
  expect(findCycles(imports)).toEqual([]);
});

test('a cycle of imports is found', () => {
  const graph = new Map([
    ['a', ['b']],
    ['b', ['c', 'd']],
    ['c', ['a']],
    ['d', []],
  ]);

  expect(findCycles(graph)).toEqual(['a → b → c → a']);
});

/** One cycle per import that closes one, found depth first. */
function findCycles(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const finished = new Set<string>();
  const cycles: string[] = [];
  function visit(file: string, trail: readonly string[]): void {
    if (trail.includes(file)) {
      cycles.push([...trail.slice(trail.indexOf(file)), file].join(' → '));
      return;
    }
    if (finished.has(file)) return;
    for (const imported of graph.get(file) ?? []) visit(imported, [...trail, file]);
    finished.add(file);
  }
  for (const file of graph.keys()) visit(file, []);
  return cycles;
}

test('the imports are read: the router imports the core', () => {
  const routerImports = files
    .filter((file) => file.startsWith('framework/router/src/'))
    .flatMap((file) => imports.get(file) ?? []);

  expect(routerImports.some((file) => file.startsWith('framework/core/src/'))).toBe(true);
});
