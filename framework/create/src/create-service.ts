import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { type Manifest, writeManifest } from './manifest.ts';
import { collectPackages } from './packages.ts';

export interface CreateServiceOptions {
  /** The folder with the packed packages of fw, which `make packages` writes. */
  readonly packages: string;
}

/** The files of a new service. They are valid as they are, for a service named `my-service`. */
const TEMPLATE = fileURLToPath(new URL('../template', import.meta.url));

/** A label of a DNS name (RFC 1035 §2.3.1): it is valid as a name of packages, images and deployments too. */
const NAME = /^[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * Writes a service into `folder`, whose last part is the name of the service. If it throws, it has
 * written nothing.
 *
 * @returns the paths of the files in `folder`, with slashes
 * @throws {Error} if the name is invalid, the folder is not empty or not writable, or a package is missing
 */
export function createService(folder: string, { packages }: CreateServiceOptions): string[] {
  const target = path.resolve(folder);
  const name = path.basename(target);
  requireName(name);
  requireEmpty(target);
  const manifest: Manifest = JSON.parse(
    fs.readFileSync(path.join(TEMPLATE, 'package.json'), 'utf8'),
  );
  const packed = collectPackages(packages, {
    ...manifest.dependencies,
    ...manifest.devDependencies,
  });
  const files = readTemplate(name);
  files.set('package.json', writeManifest({ ...manifest, name }, packed));
  for (const { file, content } of packed.values()) files.set(`packages/${file}`, content);
  writeAll(target, files);
  return [...files.keys()];
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

/** The files of the template by their paths, with the name of the service. */
function readTemplate(name: string): Map<string, string | Buffer> {
  const entries = fs.readdirSync(TEMPLATE, { recursive: true, encoding: 'utf8' }).sort();
  const files = entries.filter((entry) => fs.statSync(path.join(TEMPLATE, entry)).isFile());
  return new Map(
    files.map((file) => [
      // npm does not pack files that are named .gitignore.
      file.replaceAll(path.sep, '/').replace(/^(\w+ignore)$/, '.$1'),
      fs.readFileSync(path.join(TEMPLATE, file), 'utf8').replaceAll('my-service', name),
    ]),
  );
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
