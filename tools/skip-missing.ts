import { type RunnerTestCase, type RunnerTestSuite, TestRunner } from 'vitest';

import { MISSING_PROGRAMS, type MissingProgram } from './programs.ts';

declare module 'vitest' {
  interface TaskMeta {
    /** The program that the test, or a hook of the group of tests, did not find. */
    missing?: MissingProgram;
  }
}

/** The runner of Vitest. Outside CI, it skips a test that failed after it did not find a program. */
export default class SkipMissing extends TestRunner {
  /** The program that the current test or hook did not find. */
  #missing: MissingProgram | undefined;

  constructor(...args: ConstructorParameters<typeof TestRunner>) {
    super(...args);
    MISSING_PROGRAMS.subscribe((message) => {
      this.#missing = message as MissingProgram;
    });
  }

  override onAfterRunTask(test: RunnerTestCase): void {
    super.onAfterRunTask(test);
    this.#skipIfMissing(test);
  }

  override async onAfterRunSuite(suite: RunnerTestSuite): Promise<void> {
    await super.onAfterRunSuite(suite);
    this.#skipIfMissing(suite);
  }

  #skipIfMissing(task: RunnerTestCase | RunnerTestSuite): void {
    const missing = this.#missing;
    this.#missing = undefined;
    if (!missing || !task.result?.errors?.length || process.env.CI) return;
    task.meta.missing = missing;
    task.mode = 'skip';
    const { errors: _, ...result } = task.result;
    task.result = { ...result, state: 'skip' };
  }
}
