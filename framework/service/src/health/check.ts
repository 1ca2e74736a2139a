import type { Logger } from 'fw';

/** Resolves if a part of the service works, and rejects if not. */
export type Check = () => Promise<void>;

/** The result of a check; the reason of a failure is only logged. */
export type CheckResult = 'ok' | 'failed';

/** Runs one check; concurrent callers share a run. */
export interface CheckRunner {
  (): Promise<CheckResult>;
  readonly checkName: string;
}

export interface CheckRunnerOptions {
  readonly logger: Logger;
  /** Time limit of one run. */
  readonly timeoutMs: number;
}

/** A run that hangs for this many time-outs is abandoned, so that a recovery is noticed. */
const TIMEOUTS_TO_GIVE_UP = 10;

/**
 * Wraps `check` so that it has a time limit and runs once at a time: callers during a run get its result,
 * or `failed` immediately if it has timed out. Only changes of the result are logged.
 */
export function createCheckRunner(
  checkName: string,
  check: Check,
  { logger, timeoutMs }: CheckRunnerOptions,
): CheckRunner {
  let running: Promise<CheckResult> | undefined;
  let loggedReason: string | undefined;

  function report(reason: string | undefined): CheckResult {
    if (reason !== undefined && reason !== loggedReason) {
      logger.warn(`Check "${checkName}" failed: ${reason}`);
    }
    if (reason === undefined && loggedReason !== undefined) {
      logger.info(`Check "${checkName}" passes again`);
    }
    loggedReason = reason;
    return reason === undefined ? 'ok' : 'failed';
  }

  function start(): Promise<CheckResult> {
    const { promise: late, resolve: expire } = Promise.withResolvers<string>();
    const timer = setTimeout(expire, timeoutMs, `no result within ${timeoutMs} ms`);
    const giveUp = setTimeout(forget, timeoutMs * TIMEOUTS_TO_GIVE_UP).unref();
    const finished = new Promise((resolve) => resolve(check())).then(
      () => undefined,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    const result = Promise.race([finished, late]).then(report);
    finished.finally(() => {
      clearTimeout(timer);
      clearTimeout(giveUp);
      forget();
    });
    return result;

    function forget(): void {
      if (running === result) running = undefined;
    }
  }

  const run = () => {
    running ??= start();
    return running;
  };
  return Object.assign(run, { checkName });
}
