import path from 'node:path';

import { listPackages } from '../../deploy/packages/manifest.ts';

/** Entries that import an optional peer, or are for processes of Vitest. */
const NEEDS_A_PEER = /^@fw\/service\/(?:postgres|testing)/;

/** Every entry of every package that a project can import without installing anything else. */
export function listEntries(): string[] {
  return listPackages(path.resolve(import.meta.dirname, '../..'))
    .flatMap(({ manifest }) =>
      Object.keys(manifest.exports).map((entry) => path.posix.join(manifest.name, entry)),
    )
    .filter((entry) => !NEEDS_A_PEER.test(entry));
}
