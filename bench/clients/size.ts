import path from 'node:path';
import { gzipSync } from 'node:zlib';

import { build } from 'esbuild';

/** The size of a program with three calls, for browsers, minified and gzipped, in bytes. */
export async function sizeOf(connection: string): Promise<number> {
  const { outputFiles } = await build({
    entryPoints: [path.join(import.meta.dirname, 'connections', `${connection}.ts`)],
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    // ts-rest needs zod 3.
    alias: { zod: 'zod/v3' },
    write: false,
  });
  return gzipSync(outputFiles[0]?.contents ?? '', { level: 9 }).length;
}
