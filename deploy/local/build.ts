import path from 'node:path';

import { buildService as bundle } from '@fw/service/build';

import { SERVICE_NAMES } from '../../services/services.ts';

const root = path.resolve(import.meta.dirname, '../..');

/** The file that `buildService` writes: the whole service and what it needs, in one. */
export function bundleOf(name: string): string {
  return path.join(root, 'services', name, 'dist/main.js');
}

/** Bundles the service `name`. */
export async function buildService(name: string): Promise<void> {
  await bundle({ root, entry: `services/${name}/src/main.ts`, outfile: bundleOf(name) });
}

/** `node build.ts users` bundles one service; without a name, all. */
if (import.meta.main) {
  const names = process.argv.slice(2);
  await Promise.all((names.length > 0 ? names : SERVICE_NAMES).map(buildService));
}
