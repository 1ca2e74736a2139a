import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';

/** A packed package of fw. */
export interface PackedPackage {
  /** Its file name, such as `fw-core-0.1.0.tgz`. */
  readonly file: string;
  readonly content: Buffer;
}

/** A release of fw in a registry, such as `@acme/fw-core` of version 0.1.0. */
export interface Published {
  readonly scope: string;
  readonly version: string;
}

/** The name of a package in a registry, in which `fw` and `@fw` may be those of other projects. */
export function publishedName(name: string, scope: string): string {
  return `${scope}/${name.replace('@fw/', 'fw-')}`;
}

/**
 * The versions by name in which the packages of fw are those of the release:
 * `"@fw/core": "npm:@acme/fw-core@0.1.0"`.
 */
export function publishedVersions(
  versions: Readonly<Record<string, string>>,
  { scope, version }: Published,
): Record<string, string> {
  const entries = Object.entries(versions).map(([name, other]) => [
    name,
    OURS.test(name) ? `npm:${publishedName(name, scope)}@${version}` : other,
  ]);
  return Object.fromEntries(entries);
}

/** The names of the packages of fw. */
const OURS = /^(?:fw$|@fw\/)/;

/**
 * Reads the packages of fw among `wanted` (versions by name), and those they depend on, from
 * `folder`.
 *
 * @throws {Error} naming the first file that is missing or not a packed package
 */
export function collectPackages(
  folder: string,
  wanted: Readonly<Record<string, string>>,
): Map<string, PackedPackage> {
  const collected = new Map<string, PackedPackage>();
  const collect = (versions: Readonly<Record<string, string>>) => {
    for (const [name, version] of Object.entries(versions)) {
      if (!OURS.test(name) || collected.has(name)) continue;
      const file = `${name.replace('@', '').replace('/', '-')}-${version}.tgz`;
      const { content, dependencies } = readPackage(path.join(folder, file));
      collected.set(name, { file, content });
      collect(dependencies);
    }
  };
  collect(wanted);
  return collected;
}

function readPackage(file: string) {
  try {
    const content = fs.readFileSync(file);
    return { content, dependencies: dependenciesOf(content) };
  } catch (cause) {
    throw new Error(
      `Cannot read the package "${file}": expected --packages FOLDER, the folder that "make packages" writes`,
      { cause },
    );
  }
}

/** The dependencies of a packed package. @throws {Error} if it contains no package.json */
function dependenciesOf(tarball: Buffer): Readonly<Record<string, string>> {
  const archive = gunzipSync(tarball);
  let start = 0;
  // POSIX ustar: each file has a header of 512 bytes, with its name and at 124 its size in octal digits, and is
  // padded to a multiple of 512 bytes.
  while (start < archive.length) {
    const [name] = archive.toString('utf8', start, start + 100).split('\0');
    const bytes = Number.parseInt(archive.toString('ascii', start + 124, start + 135), 8);
    const content = start + 512;
    if (name === 'package/package.json') {
      return JSON.parse(archive.toString('utf8', content, content + bytes)).dependencies ?? {};
    }
    start = content + Math.ceil(bytes / 512) * 512;
  }
  throw new Error('it contains no package.json');
}

const OWN_FOLDER = fileURLToPath(new URL('..', import.meta.url));

/**
 * Returns the release that this package belongs to if it has a scope, otherwise the folder of the tarball from
 * which npm installed it.
 *
 * @throws {Error} if it has no scope and was not installed from a tarball
 */
export function findPackages(
  installed: string = OWN_FOLDER,
): Published | { readonly packages: string } {
  const { name, version } = JSON.parse(
    fs.readFileSync(path.join(installed, 'package.json'), 'utf8'),
  );
  const [, scope] = /^(@.+)\//.exec(name) ?? [];
  if (scope) return { scope, version };
  const modules = path.dirname(installed);
  const tarball = resolvedBy(path.join(modules, '.package-lock.json'));
  if (!tarball) {
    throw new Error(
      'Cannot find the packages of fw: expected --packages FOLDER, the folder that "make packages" writes',
    );
  }
  return { packages: path.resolve(modules, '..', path.dirname(tarball)) };
}

/** The tarball of this package according to the lock file that npm writes into `node_modules`. */
function resolvedBy(lockFile: string): string | undefined {
  if (!fs.existsSync(lockFile)) return undefined;
  const { packages } = JSON.parse(fs.readFileSync(lockFile, 'utf8'));
  const resolved: unknown = packages?.['node_modules/create-fw']?.resolved;
  return typeof resolved === 'string' ? /^file:(.+\.tgz)$/.exec(resolved)?.[1] : undefined;
}
