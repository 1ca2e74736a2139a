import type { Logger } from 'fw';

/** Resolves if a part of the service works, rejects if not. */
export type Check = () => Promise<void>;

/** What a check came to, and nothing of why: that is for the log. */
export type CheckOutcome = 'ok' | 'failed';

/** Runs one check for all who ask at the same time. */
export interface CheckRunner {
  (): Promise<CheckOutcome>;
  readonly checkName: string;
}

export interface CheckRunnerOptions {
  readonly logger: Logger;
  /** How long one run may take. */
  readonly timeoutMs: number;
}

/** A run that hangs for so many time-outs is given up, so that what works again is noticed. */
const TIMEOUTS_TO_GIVE_UP = 10;

/**
 * Makes of `check` one that never hangs and never piles up: whoever asks while it runs gets the
 * outcome of that run, and of one that has timed out "failed" at once. The log hears of changes only.
 */
export function createCheckRunner(
  checkName: string,
  check: Check,
  { logger, timeoutMs }: CheckRunnerOptions,
): CheckRunner {
  let running: Promise<CheckOutcome> | undefined;
  let reasonTold: string | undefined;

  function tell(reason: string | undefined): CheckOutcome {
    if (reason !== undefined && reason !== reasonTold) {
      logger.warn(`Check "${checkName}" failed: ${reason}`);
    }
    if (reason === undefined && reasonTold !== undefined) {
      logger.info(`Check "${checkName}" passes again`);
    }
    reasonTold = reason;
    return reason === undefined ? 'ok' : 'failed';
  }

  function start(): Promise<CheckOutcome> {
    const { promise: late, resolve: expire } = Promise.withResolvers<string>();
    const timer = setTimeout(expire, timeoutMs, `no answer within ${timeoutMs} ms`);
    const giveUp = setTimeout(forget, timeoutMs * TIMEOUTS_TO_GIVE_UP).unref();
    const finished = Promise.try(check).then(
      () => undefined,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    const outcome = Promise.race([finished, late]).then(tell);
    finished.finally(() => {
      clearTimeout(timer);
      clearTimeout(giveUp);
      forget();
    });
    return outcome;

    function forget(): void {
      if (running === outcome) running = undefined;
    }
  }

  const run = () => {
    running ??= start();
    return running;
  };
  return Object.assign(run, { checkName });
}
