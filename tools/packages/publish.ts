import { spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { publishedName } from '../../framework/create/src/packages.ts';

import { listPackages, packPackages, type Release } from './pack.ts';

/** A package in a registry, such as `@acme/fw-core@0.1.0`. */
interface PublishedPackage {
  readonly id: string;
  /** The file to publish. */
  readonly tarball: string;
  /** The checksum of the published contents, if there are any. */
  readonly integrity: string | undefined;
}

interface Registry {
  /** Its address; by default, the one that npm is configured to use for the scope. */
  readonly url: string;
  readonly scope: string;
  /** Further options of `npm publish`. */
  readonly options: readonly string[];
}

// With --check, everything that can be wrong is reported, and nothing published.
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fw-publish-'));
try {
  const { release, registry } = readVariables();
  const packages = listInOrder().map((name) => lookUp(name, release, registry));
  packPackages(folder, release);
  requireEqual(packages);
  if (!process.argv.includes('--check')) publish(packages, registry);
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
} finally {
  fs.rmSync(folder, { recursive: true });
}

/** @throws {Error} if the registry rejects a package */
function publish(packages: readonly PublishedPackage[], registry: Registry): void {
  for (const { id, tarball, integrity } of packages) {
    if (integrity === undefined) {
      npm(`publish ${id}`, ['publish', tarball, ...registry.options], registry);
    }
    console.log(`${id}: ${integrity ? 'published before' : 'published'}`);
  }
}

/** @throws {Error} naming the first invalid variable of `make publish-packages` */
function readVariables(): { release: Release; registry: Registry } {
  const { NPM_SCOPE = '', NPM_REGISTRY = '', SOURCE = '', PROVENANCE } = process.env;
  const TAG = process.env.TAG || (listPackages()[0]?.manifest.version ?? '');
  requireForm({ NPM_SCOPE }, /^@[a-z\d][a-z\d._-]*$/, '@acme');
  requireForm({ TAG }, /^\d+\.\d+\.\d+(-[\w.-]+)?$/, '0.1.0');
  if (NPM_REGISTRY) requireForm({ NPM_REGISTRY }, /^https?:\/\/[^/]/, 'https://npm.example.org');
  if (SOURCE || PROVENANCE) requireForm({ SOURCE }, /^https:\/\//, 'https://github.com/acme/fw');
  const options = [
    ...(PROVENANCE ? ['--provenance', '--access=public'] : []),
    // Without a tag, npm rejects a pre-release; with it, npm does not install it by default.
    ...(TAG.includes('-') ? ['--tag=next'] : []),
  ];
  return {
    release: { scope: NPM_SCOPE, version: TAG, source: SOURCE },
    registry: { url: NPM_REGISTRY, scope: NPM_SCOPE, options },
  };
}

function requireForm(variable: Readonly<Record<string, string>>, form: RegExp, example: string) {
  for (const [name, value] of Object.entries(variable)) {
    if (form.test(value)) continue;
    throw new Error(
      `Cannot publish with ${name} "${value}": expected a value such as "${example}"`,
    );
  }
}

/** The names of the packages, each after those it uses; last `create-fw`, whose services use all. */
function listInOrder(): string[] {
  const packages = new Map(listPackages().map(({ manifest }) => [manifest.name, manifest]));
  const ordered = new Set<string>();
  const add = (name: string) => {
    for (const used of Object.keys(packages.get(name)?.dependencies ?? {})) add(used);
    if (packages.has(name)) ordered.add(name);
  };
  for (const name of packages.keys()) if (name !== 'create-fw') add(name);
  return [...ordered, 'create-fw'];
}

/** @throws {Error} if the registry is unavailable, or rejects the credentials */
function lookUp(name: string, { scope, version }: Release, registry: Registry): PublishedPackage {
  const published = publishedName(name, scope);
  const id = `${published}@${version}`;
  const file = `${published.replace('@', '').replace('/', '-')}-${version}.tgz`;
  const integrity = npm(`look up ${id}`, ['view', id, 'dist.integrity'], registry, 'E404');
  return { id, tarball: path.join(folder, file), integrity: integrity as string | undefined };
}

/** @throws {Error} naming the packages whose published contents differ */
function requireEqual(packages: readonly PublishedPackage[]): void {
  const ids = packages
    .filter(({ integrity, tarball }) => integrity && integrity !== integrityOf(tarball))
    .map(({ id }) => id);
  if (ids.length > 0) {
    throw new Error(
      `Cannot publish: the registry has other contents of ${ids.join(', ')}; expected a new TAG`,
    );
  }
}

function integrityOf(file: string): string {
  return `sha512-${hash('sha512', fs.readFileSync(file), 'base64')}`;
}

/**
 * Runs npm and returns its result, or `undefined` if it fails with `expectedCode`.
 *
 * @throws {Error} with the first line of another error
 */
function npm(
  action: string,
  args: readonly string[],
  { url, scope }: Registry,
  expectedCode?: string,
): unknown {
  const { status, stdout, stderr } = spawnSync(
    'npm',
    [
      ...args,
      '--json',
      // The configuration of the scope precedes --registry.
      ...(url ? [`--${scope}:registry=${url}`] : []),
      // npm repeats a failed request twice, by default after 10 and 60 seconds.
      ...['--fetch-retry-mintimeout=1000', '--fetch-retry-maxtimeout=2000'],
    ],
    { encoding: 'utf8' },
  );
  if (status === 0) return JSON.parse(stdout || 'null') ?? undefined;
  const { code, summary } = JSON.parse(stdout || '{}').error ?? { summary: stderr };
  if (expectedCode && code === expectedCode) return undefined;
  const [line] = String(summary).split('\n');
  throw new Error(`Cannot ${action} in ${url || 'the registry of npm'}: ${line}`);
}
