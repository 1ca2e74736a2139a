import { readPart } from './parts.ts';

const name = process.env.PACKAGE;

/** The configuration of Stryker for one part of the repository. */
export default {
  plugins: ['@stryker-mutator/vitest-runner'],
  testRunner: 'vitest',
  vitest: { configFile: 'tools/mutation/vitest.config.ts', related: false },
  mutate: readPart(name).mutate,
  // In a copy, the linked workspaces would load sources without mutants.
  inPlace: true,
  ignorePatterns: ['/.local', '/packages', '/tools', '/tests', '/bench', '/deploy', '/docs'],
  // Stryker would write every file again, and lose the mode of those that are programs.
  disableTypeChecks: false,
  // The constant of a module would need every test for each of its mutants.
  ignoreStatic: true,
  coverageAnalysis: 'perTest',
  timeoutMS: 20_000,
  concurrency: 2,
  tempDirName: '.local/mutation/backup',
  reporters: ['progress-append-only', 'json', 'html', 'clear-text'],
  clearTextReporter: { logTests: false, reportTests: false, reportMutants: false },
  jsonReporter: { fileName: `.local/mutation/${name}.json` },
  htmlReporter: { fileName: `.local/mutation/${name}.html` },
};
