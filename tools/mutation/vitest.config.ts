import { defineConfig } from 'vitest/config';

import { SEARCH_PATH } from '../programs.ts';
import { readPart } from './parts.ts';

export default defineConfig({
  test: {
    root: process.cwd(),
    include: [...readPart(process.env.PACKAGE).tests],
    // They compile or bundle the sources, which contain every mutant.
    exclude: [
      '**/node_modules/**',
      '**/{bundle,page-assets}.test.ts',
      'framework/core/src/router/{pattern,endpoint-types}.test.ts',
    ],
    env: { PATH: SEARCH_PATH },
    setupFiles: 'tools/mutation/skip-slow.ts',
    // Each test takes less than 100 ms: one that hangs has noticed the mutant.
    testTimeout: 5_000,
    hookTimeout: 60_000,
  },
});
