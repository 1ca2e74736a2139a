import path from 'node:path';

import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

import { SEARCH_PATH } from '../programs.ts';
import { readPart } from './parts.ts';

const { tests } = readPart(process.env.PACKAGE);

class OwnTestsFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isOwn = ({ moduleId }: TestSpecification) =>
      path.matchesGlob(path.relative('', moduleId), tests[0] ?? '');
    const sorted = await super.sort(files);
    return sorted.toSorted((left, right) => Number(isOwn(right)) - Number(isOwn(left)));
  }
}

export default defineConfig({
  test: {
    root: process.cwd(),
    include: [...tests],
    sequence: { sequencer: OwnTestsFirst },
    // They compile or bundle the sources, which contain every mutant.
    exclude: [
      '**/node_modules/**',
      '**/{bundle,page-assets}.test.ts',
      'framework/core/src/router/{pattern,endpoint-types}.test.ts',
    ],
    env: { PATH: SEARCH_PATH },
    setupFiles: 'tools/mutation/skip-slow.ts',
    // Most of the time of a test that polls would be the pause between two polls.
    expect: { poll: { interval: 5 } },
    // A test that was not skipped as slow takes much less: one that hangs has noticed the mutant.
    testTimeout: 5_000,
    hookTimeout: 60_000,
  },
});
