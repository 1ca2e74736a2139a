import os from 'node:os';

import { configDefaults, defineConfig } from 'vitest/config';

import { skippedFiles } from './deploy/local/testing/skipped-files.ts';

export default defineConfig({
  test: {
    include: [
      '*.test.ts',
      'framework/*/src/**/*.test.ts',
      'framework/create/template/src/v1.test.ts',
      'services/*.test.ts',
      'services/*/src/**/*.test.ts',
      'deploy/**/*.test.ts',
      'tests/**/*.test.ts',
      'bench/**/*.test.ts',
    ],
    // Test files whose programs this machine lacks are skipped; the last line of the run names them.
    exclude: [
      ...configDefaults.exclude,
      // They need a running system or the whole machine: tests/vitest.config.ts.
      'tests/{contract,smoke,installation,kind,new-service,e2e/scenarios}/**',
      'tests/chaos/*.test.ts',
      ...skippedFiles(),
    ],
    globalSetup: 'deploy/local/testing/skipped-files.ts',
    // Most tests wait for a process or a timer. Vitest would use one worker on two cores.
    maxWorkers: Math.max(2, os.availableParallelism() - 1),
    // Long enough for a busy machine: these limits only name a test that hangs.
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
});
