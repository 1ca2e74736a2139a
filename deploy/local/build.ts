import fs from 'node:fs';
import path from 'node:path';

import { buildService as bundle } from '@fw/service/build';

const root = path.resolve(import.meta.dirname, '../..');

/** The names of the services: the folders below `services` with an entry. */
export function serviceNames(): string[] {
  return fs
    .readdirSync(path.join(root, 'services'))
    .filter((name) => fs.existsSync(path.join(root, 'services', name, 'src/main.ts')))
    .sort();
}

/** The file that `buildService` writes: the whole service and what it needs, in one. */
export function bundleOf(name: string): string {
  return path.join(root, 'services', name, 'dist/main.js');
}

/** Bundles the service `name`. */
export async function buildService(name: string): Promise<void> {
  await bundle({ root, entry: `services/${name}/src/main.ts`, outfile: bundleOf(name) });
}

if (import.meta.main) await Promise.all(serviceNames().map(buildService));
