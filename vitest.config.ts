import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: [
      '*.test.ts',
      'framework/*/src/**/*.test.ts',
      'services/*/src/**/*.test.ts',
      'deploy/**/*.test.ts',
    ],
    testTimeout: 20_000,
  },
});
