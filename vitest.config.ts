import os from 'node:os';
import path from 'node:path';

import { configDefaults, defineConfig } from 'vitest/config';

import { SEARCH_PATH } from './tools/programs.ts';

export default defineConfig({
  test: {
    include: [
      'framework/*/src/**/*.test.ts',
      'framework/create/template/src/v1.test.ts',
      'services/*.test.ts',
      'services/*/src/**/*.test.ts',
      'deploy/**/*.test.ts',
      'tools/**/*.test.ts',
      'tests/**/*.test.ts',
    ],
    exclude: [
      ...configDefaults.exclude,
      // They need a running system or the whole machine: tests/vitest.config.ts.
      'tests/{api,cluster,compose,installation,publish}/**',
      'tests/new-service.test.ts',
      'tests/chaos/*.test.ts',
    ],
    // Tests whose programs this machine lacks are skipped; the last lines of the run name them.
    runner: path.resolve(import.meta.dirname, 'tools/skip-missing.ts'),
    globalSetup: path.resolve(import.meta.dirname, 'tools/report-skipped.ts'),
    env: { PATH: SEARCH_PATH },
    // Most tests wait for a process or a timer. Vitest would use one worker on two cores.
    maxWorkers: Math.max(2, os.availableParallelism() - 1),
    // Most of the time of a test that polls would be the pause between two polls.
    expect: { poll: { interval: 10, timeout: 60_000 } },
    // Long enough for a busy machine: these limits only name a test that hangs.
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
});
