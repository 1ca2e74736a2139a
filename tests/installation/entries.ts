import path from 'node:path';

import { listPackages } from '../../tools/packages/pack.ts';

/** Entries that import an optional peer, or are for processes of Vitest. */
const NEEDS_A_PEER =
  /^@fw\/(?:middleware\/(?:bearer-token|websocket)|service\/(?:postgres|testing))/;

/** Every entry of every package that a project can import without installing anything else. */
export function listEntries(): string[] {
  return listPackages()
    .flatMap(({ manifest }) =>
      Object.keys(manifest.exports).map((entry) => path.posix.join(manifest.name, entry)),
    )
    .filter((entry) => !NEEDS_A_PEER.test(entry));
}
