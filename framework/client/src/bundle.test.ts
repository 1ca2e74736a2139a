import path from 'node:path';
import { gzipSync } from 'node:zlib';

import { build } from 'esbuild';
import { expect, test } from 'vitest';

test('the client is smaller than 6,000 bytes minified and gzipped, and runs in a browser', async () => {
  const { outputFiles } = await build({
    entryPoints: [path.join(import.meta.dirname, 'index.ts')],
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser', // an import of Node fails
    target: 'es2022',
    write: false,
  });

  const { length } = gzipSync(outputFiles[0]?.contents ?? '', { level: 9 });
  expect(length).toBeGreaterThan(1_000);
  expect(length).toBeLessThan(6_000);
});
