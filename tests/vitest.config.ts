import path from 'node:path';

import { defineConfig } from 'vitest/config';

/** The tests that need a running system or take long; README.md describes them. */
export default defineConfig({
  test: {
    root: path.resolve(import.meta.dirname, '..'),
    // The files share one system.
    fileParallelism: false,
    reporters: ['verbose'],
    testTimeout: 60_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'contract',
          include: ['tests/api/v1/*.test.ts'],
          globalSetup: 'tests/api/require-target.ts',
          setupFiles: 'tests/api/v1/skip-removed.ts',
        },
      },
      {
        extends: true,
        test: {
          name: 'smoke',
          include: ['tests/api/{,v2/}*.test.ts'],
          globalSetup: 'tests/api/require-target.ts',
        },
      },
      {
        extends: true,
        test: {
          name: 'e2e',
          include: ['tests/cluster/*.test.ts'],
          exclude: ['tests/cluster/kind.test.ts'],
          globalSetup: 'tests/cluster/setup.ts',
          // Threads ignore Ctrl-C, so that the tests can remove their namespaces.
          pool: 'threads',
          disableConsoleIntercept: true,
          testTimeout: 300_000,
          hookTimeout: 180_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'kind',
          include: ['tests/cluster/kind.test.ts'],
          globalSetup: 'tests/cancel-on-interrupt.ts',
          // Threads ignore Ctrl-C, so that the cluster can be deleted.
          pool: 'threads',
          // The commands have time limits.
          testTimeout: 0,
          hookTimeout: 180_000,
          disableConsoleIntercept: true,
          // The tests use the same system.
          bail: 1,
        },
      },
      {
        extends: true,
        test: {
          name: 'chaos',
          include: ['tests/chaos/*.test.ts'],
          exclude: ['tests/chaos/soak.test.ts'],
          testTimeout: 0,
          hookTimeout: 180_000,
          disableConsoleIntercept: true,
        },
      },
      {
        extends: true,
        test: {
          name: 'soak',
          include: ['tests/chaos/soak.test.ts'],
          testTimeout: 0,
          disableConsoleIntercept: true,
        },
      },
      {
        extends: true,
        test: {
          name: 'installation',
          include: ['tests/installation/*.test.ts'],
          globalSetup: 'tests/installation/setup.ts',
          testTimeout: 180_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'registry',
          include: ['tests/publish/*.test.ts'],
          testTimeout: 300_000,
          hookTimeout: 600_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'compose',
          include: ['tests/compose/*.test.ts'],
          testTimeout: 300_000,
          hookTimeout: 600_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'new-service',
          include: ['tests/new-service.test.ts'],
          testTimeout: 0,
          hookTimeout: 180_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'conformance',
          include: ['tests/conformance/*.test.ts'],
          env: { FULL: '1' },
          testTimeout: 0,
          disableConsoleIntercept: true,
        },
      },
    ],
  },
});
