import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: [
      '*.test.ts',
      'framework/*/src/**/*.test.ts',
      'services/*/src/**/*.test.ts',
      'deploy/**/*.test.ts',
    ],
    // For a machine on which images are built meanwhile; a test that hangs is told of by its name.
    testTimeout: 60_000,
  },
});
