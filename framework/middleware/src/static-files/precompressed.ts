import type { Context } from '@fw/core';

import { contentTypeOf } from './content-types.ts';
import { findFile, type OpenFile } from './find-file.ts';

/** Content codings and their file extensions, usually the smallest file first. */
const EXTENSIONS = new Map([
  ['br', '.br'],
  ['zstd', '.zst'],
  ['gzip', '.gz'],
]);

const COMPRESSIBLE = /^(?:text\/|application\/(?:json|wasm|xml|[\w.-]+\+(?:json|xml))|image\/svg)/;

/** Whether files of this type can have a compressed variant. */
export function isCompressible(type: string): boolean {
  return COMPRESSIBLE.test(type);
}

/** Opens the compressed variant of a file that the client prefers; `undefined` if there is none. */
export async function findPrecompressed(
  ctx: Context,
  root: string,
  segments: readonly string[],
): Promise<OpenFile | undefined> {
  const name = segments.at(-1) ?? '';
  if (!isCompressible(contentTypeOf(name))) return undefined;
  for (const coding of acceptedCodings(ctx.get('accept-encoding') ?? '')) {
    const variant = [...segments.slice(0, -1), name + EXTENSIONS.get(coding)];
    const file = await findFile(root, variant);
    if (file === undefined || file === 'folder') continue;
    return { ...file, coding, etag: file.etag.replace(/"$/, `-${coding}"`) };
  }
  return undefined;
}

/** The codings that `Accept-Encoding` allows (RFC 9110 §12.5.3), preferred ones first. */
function acceptedCodings(header: string): readonly string[] {
  const weights = new Map<string, number>();
  for (const element of header.toLowerCase().split(',')) {
    const [, coding = '', weight = '1'] =
      /^\s*([^\s;]+)\s*(?:;\s*q=([\d.]+)\s*)?$/.exec(element) ?? [];
    weights.set(coding, Number(weight) || 0);
  }
  const weightOf = (coding: string) => weights.get(coding) ?? weights.get('*') ?? 0;
  return [...EXTENSIONS.keys()]
    .filter((coding) => weightOf(coding) > 0)
    .sort((left, right) => weightOf(right) - weightOf(left));
}
