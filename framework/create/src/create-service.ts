import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { collectPackages, type Published, publishedVersions } from './packages.ts';
import { rename, type Words } from './words.ts';

/**
 * The packages of fw: those of a release in a registry, or `packages`, the folder with the packed packages that
 * `make packages` writes.
 */
export type CreateServiceSource = Published | { readonly packages: string };

export interface CreateServiceOptions {
  /** What the API is about. Default: tasks. */
  readonly resource?: Words;
  /** Also writes values for the chart `common`. Default false. */
  readonly chart?: boolean;
}

/** What `package.json` of a service contains. */
interface Manifest {
  readonly name: string;
  /** Versions by name. */
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

/** The files of a new service. They are valid as they are, for a service named `my-service`. */
const TEMPLATE = fileURLToPath(new URL('../template', import.meta.url));

/** The words of the template. */
const TASKS: Words = { singular: 'task', plural: 'tasks' };

/** The values for the chart. */
const VALUES = 'deploy/values.yaml';

/** A label of a DNS name (RFC 1035 §2.3.1): it is valid as a name of packages, images and deployments too. */
const NAME = /^[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * Writes a service into `folder`, whose last part is the name of the service. If it throws, it has
 * written nothing.
 *
 * @returns the paths of the files in `folder`, with slashes
 * @throws {Error} if the name is invalid, the folder is not empty or not writable, or a package is missing
 */
export function createService(
  folder: string,
  source: CreateServiceSource,
  { resource = TASKS, chart = false }: CreateServiceOptions = {},
): string[] {
  const target = path.resolve(folder);
  const name = path.basename(target);
  requireName(name);
  requireEmpty(target);
  const manifest: Manifest = JSON.parse(
    fs.readFileSync(path.join(TEMPLATE, 'package.json'), 'utf8'),
  );
  const { versions, packed } = readPackages(source, {
    ...manifest.dependencies,
    ...manifest.devDependencies,
  });
  const files = readTemplate(name, resource);
  if (!chart) files.delete(VALUES);
  files.set('package.json', writeManifest({ ...manifest, name }, versions));
  for (const { file, content } of packed) files.set(`packages/${file}`, content);
  writeAll(target, files);
  return [...files.keys()];
}

/** The versions for `package.json`, and the packed packages to copy. */
function readPackages(source: CreateServiceSource, wanted: Readonly<Record<string, string>>) {
  if ('scope' in source) return { versions: publishedVersions(wanted, source), packed: [] };
  const packed = collectPackages(source.packages, wanted);
  // npm finds the packages that only others use if they are dependencies of the service.
  const files = [...packed].map(([name, { file }]) => [name, `file:packages/${file}`]);
  return { versions: Object.fromEntries(files), packed: [...packed.values()] };
}

function requireName(name: string): void {
  if (!NAME.test(name)) {
    throw new Error(
      `Cannot name a service "${name}": expected at most 63 lower-case letters, digits and hyphens, beginning with a letter`,
    );
  }
}

function requireEmpty(folder: string): void {
  if (!fs.existsSync(folder)) return;
  if (!fs.statSync(folder).isDirectory() || fs.readdirSync(folder).length > 0) {
    throw new Error(`Cannot create "${folder}": it exists and is not an empty folder`);
  }
}

/** The files of the template by their paths, with the names of the service and its resource. */
function readTemplate(name: string, resource: Words): Map<string, string | Buffer> {
  const entries = fs.readdirSync(TEMPLATE, { recursive: true, encoding: 'utf8' }).sort();
  const files = entries.filter((entry) => fs.statSync(path.join(TEMPLATE, entry)).isFile());
  return new Map(
    files.map((file) => [
      // npm does not pack files that are named .gitignore.
      rename(file.replaceAll(path.sep, '/'), resource).replace(/^(\w+ignore)$/, '.$1'),
      rename(fs.readFileSync(path.join(TEMPLATE, file), 'utf8'), resource, name),
    ]),
  );
}

/**
 * The text of `package.json` with `versions` in place of those of the manifest. Those that it does not list
 * become dependencies.
 *
 * @throws {Error} if the service has the name of one of its dependencies
 */
function writeManifest(
  { dependencies, devDependencies, ...manifest }: Manifest,
  versions: Readonly<Record<string, string>>,
): string {
  const all: Readonly<Record<string, string>> = {
    ...dependencies,
    ...devDependencies,
    ...versions,
  };
  if (Object.hasOwn(all, manifest.name)) {
    throw new Error(`Cannot name a service "${manifest.name}": it uses a package with this name`);
  }
  const choose = (isChosen: (name: string) => boolean) =>
    Object.fromEntries(
      Object.entries(all)
        .filter(([name]) => isChosen(name))
        .sort(),
    );
  const isForTests = (name: string) => Object.hasOwn(devDependencies, name);
  const written = {
    ...manifest,
    dependencies: choose((name) => !isForTests(name)),
    devDependencies: choose(isForTests),
  };
  return `${JSON.stringify(written, null, 2)}\n`;
}

function writeAll(folder: string, files: ReadonlyMap<string, string | Buffer>): void {
  try {
    const created = fs.mkdirSync(folder, { recursive: true });
    try {
      for (const [file, content] of files) {
        const target = path.join(folder, file);
        fs.mkdirSync(path.dirname(target), { recursive: true });
        fs.writeFileSync(target, content);
      }
    } catch (error) {
      removeAll(
        created ? [created] : fs.readdirSync(folder).map((name) => path.join(folder, name)),
      );
      throw error;
    }
  } catch (cause) {
    throw new Error(`Cannot create "${folder}": ${(cause as Error).message}`, { cause });
  }
}

function removeAll(files: readonly string[]): void {
  for (const file of files) fs.rmSync(file, { recursive: true });
}
