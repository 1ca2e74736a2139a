import type { Context } from '@fw/core';

import { acceptedEncodings, isCompressibleType } from '../accept-encoding.ts';
import { contentTypeOf } from './content-types.ts';
import { findFile, type OpenFile } from './find-file.ts';

/** Content codings and their file extensions, usually the smallest file first. */
const EXTENSIONS = new Map([
  ['br', '.br'],
  ['zstd', '.zst'],
  ['gzip', '.gz'],
]);
const CODINGS = [...EXTENSIONS.keys()];

/** Opens the compressed variant of a file that the client prefers; `undefined` if there is none. */
export async function findPrecompressed(
  ctx: Context,
  root: string,
  segments: readonly string[],
): Promise<OpenFile | undefined> {
  const name = segments.at(-1) ?? '';
  if (!isCompressibleType(contentTypeOf(name))) return undefined;
  for (const coding of acceptedEncodings(ctx.get('accept-encoding'), CODINGS)) {
    const variant = [...segments.slice(0, -1), name + EXTENSIONS.get(coding)];
    const file = await findFile(root, variant);
    if (file === undefined || file === 'folder') continue;
    return { ...file, coding, etag: file.etag.replace(/"$/, `-${coding}"`) };
  }
  return undefined;
}
