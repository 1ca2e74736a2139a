import { type RunnerTestCase, type RunnerTestSuite, TestRunner } from 'vitest';

import { MissingProgramError } from './programs.ts';

declare module 'vitest' {
  interface TaskMeta {
    /** The program that the test, or a hook of the group of tests, did not find. */
    missing?: { readonly program: string; readonly reason: string };
  }
}

/** The runner of Vitest. Outside CI, it skips a test that failed because a program is missing. */
export default class SkipMissing extends TestRunner {
  override onAfterRunTask(test: RunnerTestCase): void {
    super.onAfterRunTask(test);
    skipIfMissing(test);
  }

  override async onAfterRunSuite(suite: RunnerTestSuite): Promise<void> {
    await super.onAfterRunSuite(suite);
    skipIfMissing(suite);
  }
}

function skipIfMissing(task: RunnerTestCase | RunnerTestSuite): void {
  // Vitest converts errors to plain objects. After a failed hook, other hooks may fail too.
  const error = task.result?.errors?.find(({ name }) => name === MissingProgramError.name);
  if (!task.result || !error || process.env.CI) return;
  task.meta.missing = { program: String(error.program), reason: error.message };
  task.mode = 'skip';
  const { errors: _, ...result } = task.result;
  task.result = { ...result, state: 'skip' };
}
