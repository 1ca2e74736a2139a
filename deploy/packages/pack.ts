import fs from 'node:fs';
import path from 'node:path';

import { type Build, buildPackages } from './build.ts';
import { createArchive } from './tar.ts';

/** A packed package. */
export interface Tarball {
  /** Its path, such as `/…/packages/fw-core-0.1.0.tgz`. */
  readonly file: string;
  readonly bytes: number;
}

/**
 * Builds the packages of the checkout at `root` and packs them into the folder `target`, which is
 * replaced. The same sources give the same bytes.
 *
 * @throws {Error} if a package does not compile
 */
export async function packPackages(root: string, target: string): Promise<Tarball[]> {
  fs.mkdirSync(path.join(root, '.local'), { recursive: true });
  const folder = fs.mkdtempSync(path.join(root, '.local/packages-'));
  try {
    const builds = buildPackages(root, folder);
    fs.rmSync(target, { recursive: true, force: true });
    fs.mkdirSync(target, { recursive: true });
    return await Promise.all(builds.map((build) => pack(build, target)));
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}

async function pack({ name, folder, files }: Build, target: string): Promise<Tarball> {
  const archive = await createArchive(
    files.map((file) => ({
      name: `package/${file}`,
      content: fs.readFileSync(path.join(folder, file)),
    })),
  );
  const file = path.join(target, `${name}.tgz`);
  fs.writeFileSync(file, archive);
  return { file, bytes: archive.length };
}

/** `node pack.ts [TARGET]` packs into TARGET, by default `packages` of this checkout. */
if (import.meta.main) {
  const root = path.resolve(import.meta.dirname, '../..');
  const [target = path.join(root, 'packages')] = process.argv.slice(2);
  console.log('Building the packages');
  for (const { file, bytes } of await packPackages(root, target)) {
    const size = `${(bytes / 1000).toFixed(1)} kB`;
    console.log(`${path.relative('.', file).padEnd(40)} ${size.padStart(8)}`);
  }
}
