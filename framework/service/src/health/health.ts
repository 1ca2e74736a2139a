import { setTimeout as sleep } from 'node:timers/promises';

import {
  type Application,
  type Context,
  createApp,
  createRouter,
  type Logger,
  type Middleware,
  notFoundHandler,
} from 'fw';
import type { Drain } from '../app/service-app.ts';
import { sendUnavailable } from '../app/unavailable.ts';
import type { Metrics } from '../metrics/metrics.ts';

/** Resolves if a part of the service works, and rejects if not. */
export type Check = () => Promise<void>;

export interface HealthOptions {
  readonly drain: Drain;
  readonly logger: Logger;
  /** The metrics of `/metrics`. */
  readonly metrics: Pick<Metrics, 'register' | 'setCheck'>;
}

/** Time limit of one check. */
const CHECK_TIMEOUT_MS = 1_000;

/** The health of a service, for orchestrators and monitoring. */
export interface Health {
  readonly app: Application;
  /** The service listens: it has started once every check has passed. */
  begin(checks: Readonly<Record<string, Check>>): void;
}

/**
 * Creates the application that serves `/livez` (the process runs), `/startupz` (it has started: every check
 * has passed once), `/readyz` (it has started and is not draining) and `/metrics`, which contains the checks.
 *
 * After the start, no probe depends on a check: all replicas share a store, and none would serve the requests
 * that need no store, or send 503 with `Retry-After`, while it is unavailable.
 */
export function createHealth({ drain, logger, metrics }: HealthOptions): Health {
  let checks: readonly (readonly [string, () => Promise<CheckResult>])[] | undefined;
  let hasStarted = false;

  /** Sends 503 until every check has passed once. */
  async function whenStarted(ctx: Context, status: string): Promise<void> {
    const outcomes = hasStarted
      ? []
      : await Promise.all((checks ?? []).map(async ([name, run]) => [name, await run()]));
    hasStarted ||= checks !== undefined && outcomes.every(([, outcome]) => outcome === 'ok');
    if (hasStarted) return ctx.json({ status });
    sendUnavailable(ctx, {
      detail: 'The service is starting',
      ...(checks && { checks: Object.fromEntries(outcomes) }),
    });
  }

  const router = createRouter();
  router.get('/livez', (ctx) => ctx.json({ status: 'live' }));
  router.get('/startupz', (ctx) => whenStarted(ctx, 'started'));
  router.get('/readyz', (ctx) => {
    if (drain.isDraining) return sendUnavailable(ctx, { detail: 'The service is draining' });
    return whenStarted(ctx, 'ready');
  });
  router.get('/metrics', async (ctx) => {
    // Before the metrics are read: a check uses a connection of a pool, whose use is one of them.
    const runs = checks?.map(async ([name, run]) => metrics.setCheck(name, (await run()) === 'ok'));
    await Promise.all(runs ?? []);
    const text = await metrics.register.metrics();
    ctx.set('Content-Type', metrics.register.contentType).send(text);
  });

  const outermost: Middleware = (ctx, next) => {
    ctx.set('X-Request-Id', ctx.requestId);
    ctx.set('Cache-Control', 'no-store');
    return next();
  };
  const app = createApp({ logger: prefixed(logger), outermost });
  app.route('/', router);
  app.use(router.allowedMethods());
  app.use(notFoundHandler());
  return {
    app,
    begin(all) {
      checks = Object.entries(all).map(([name, check]) => [
        name,
        createCheckRunner(name, check, { logger, timeoutMs: CHECK_TIMEOUT_MS }),
      ]);
    },
  };
}

function prefixed(logger: Logger): Logger {
  return {
    info: (message, fields) => logger.info(`Health: ${message}`, fields),
    warn: (message, fields) => logger.warn(`Health: ${message}`, fields),
    error: (message, error, fields) => logger.error(`Health: ${message}`, error, fields),
  };
}

/** The result of a check; the reason of a failure is only logged. */
export type CheckResult = 'ok' | 'failed';

/** A run that hangs for this many time-outs is abandoned, so that a recovery is noticed. */
const TIMEOUTS_TO_GIVE_UP = 10;

/**
 * Wraps `check` so that each run has a time limit and there is one at a time: callers during a run get its
 * result, or `failed` immediately if it has timed out. Only changes of the result are logged.
 */
export function createCheckRunner(
  checkName: string,
  check: Check,
  { logger, timeoutMs }: { readonly logger: Logger; readonly timeoutMs: number },
): () => Promise<CheckResult> {
  let running: Promise<CheckResult> | undefined;
  let startedMs = 0;
  let loggedReason: string | undefined;

  function logChange(reason: string | undefined): CheckResult {
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
    startedMs = performance.now();
    const finished = new Promise((resolve) => resolve(check())).then(
      () => undefined,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    const late = sleep(timeoutMs, `no result within ${timeoutMs} ms`, { ref: false });
    const result = Promise.race([finished, late]).then(logChange);
    void finished.then(() => {
      if (running === result) running = undefined;
    });
    return result;
  }

  return () => {
    const isStuck = performance.now() - startedMs > timeoutMs * TIMEOUTS_TO_GIVE_UP;
    if (!running || isStuck) running = start();
    return running;
  };
}
