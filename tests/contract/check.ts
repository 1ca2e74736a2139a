/** One fact about a running system, and how to see it. */
export interface Check<Target> {
  readonly title: string;
  /** Rejects, saying what is otherwise, if the fact does not hold of `target`. */
  run(target: Target): Promise<void>;
}

/** Writes a check down: a title, and what has to hold. */
export function check<Target>(title: string, run: (target: Target) => Promise<void>) {
  return { title, run };
}

/** Runs checks one after another, and prints a line for each and how many failed; gives that number. */
export async function runChecks<Target>(
  checks: readonly Check<Target>[],
  target: Target,
): Promise<number> {
  let failed = 0;
  for (const { title, run } of checks) {
    try {
      await run(target);
      console.log(`ok   ${title}`);
    } catch (error) {
      failed += 1;
      const reason = error instanceof Error ? error.message : String(error);
      console.log(`FAIL ${title}\n     ${reason.trim().replace(/\s*\n\s*/g, '\n     ')}`);
    }
  }
  console.log(`${checks.length - failed} passed, ${failed} failed`);
  return failed;
}
