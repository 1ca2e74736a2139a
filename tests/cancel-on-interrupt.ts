import type { TestProject } from 'vitest/node';

import { ignoreClosedOutput } from '../deploy/local/output.ts';

/** Ctrl-C cancels the running test, which then cleans up; by default Vitest exits immediately. */
export default function cancelOnInterrupt({ vitest }: TestProject): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.removeAllListeners(signal);
    process.once(signal, () => {
      console.log('Interrupted: cleaning up (Ctrl-C again: exit immediately)');
      process.once(signal, () => process.exit(130));
      process.exitCode = 130;
      void vitest.cancelCurrentRun('keyboard-input');
    });
  }
  // On Ctrl-C, `tee` in `make e2e | tee log` also exits; writing the output then must not fail.
  ignoreClosedOutput();
}
