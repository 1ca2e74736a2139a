import { setTimeout as sleep } from 'node:timers/promises';

import {
  type Application,
  createApp,
  createRouter,
  type Logger,
  type Middleware,
  notFoundHandler,
} from 'fw';
import { sendUnavailable } from '../app/responses.ts';
import type { Drain } from '../app/service-app.ts';

/** Resolves if a part of the service works, and rejects if not. */
export type Check = () => Promise<void>;

/** The part of prom-client's registry that `/metrics` needs. */
export interface MetricsSource {
  readonly contentType: string;
  metrics(): Promise<string>;
}

export interface HealthOptions {
  readonly drain: Drain;
  readonly logger: Logger;
  /** The metrics of `/metrics`. Default: there is no such path. */
  readonly metrics?: MetricsSource | undefined;
  /** Time limit of one check, in milliseconds. Default 1,000. */
  readonly checkTimeoutMs?: number;
}

/** The health of a service, for orchestrators and monitoring. */
export interface Health {
  readonly app: Application;
  /** Marks the service as started: from now on it is ready while every check passes. */
  begin(checks: Readonly<Record<string, Check>>): void;
}

/**
 * Creates the application that serves `/livez` (the process runs), `/startupz` (it has started), `/readyz`
 * (it accepts requests: every check passes and it is not draining) and `/metrics`. Liveness depends on no
 * check, so that an unavailable store never causes a restart.
 */
export function createHealth({
  drain,
  logger,
  metrics,
  checkTimeoutMs = 1_000,
}: HealthOptions): Health {
  let checks: readonly (readonly [string, () => Promise<CheckResult>])[] | undefined;

  const router = createRouter();
  router.get('/livez', (ctx) => ctx.json({ status: 'live' }));
  router.get('/startupz', (ctx) => {
    if (!checks) return sendUnavailable(ctx, { detail: 'The service is starting' });
    ctx.json({ status: 'started' });
  });
  router.get('/readyz', async (ctx) => {
    if (drain.isDraining) return sendUnavailable(ctx, { detail: 'The service is draining' });
    if (!checks) return sendUnavailable(ctx, { detail: 'The service is starting' });
    const outcomes = await Promise.all(checks.map(async ([name, run]) => [name, await run()]));
    const checked = { checks: Object.fromEntries(outcomes) };
    if (outcomes.some(([, outcome]) => outcome !== 'ok')) {
      return sendUnavailable(ctx, { detail: 'A check failed', ...checked });
    }
    ctx.json({ status: 'ready', ...checked });
  });
  if (metrics) {
    router.get('/metrics', async (ctx) => {
      const text = await metrics.metrics();
      ctx.set('Content-Type', metrics.contentType).send(text);
    });
  }

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
        createCheckRunner(name, check, { logger, timeoutMs: checkTimeoutMs }),
      ]);
    },
  };
}

function prefixed(logger: Logger): Logger {
  return {
    info: (message) => logger.info(`Health: ${message}`),
    warn: (message) => logger.warn(`Health: ${message}`),
    error: (message, error) => logger.error(`Health: ${message}`, error),
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
    startedMs = performance.now();
    const finished = new Promise((resolve) => resolve(check())).then(
      () => undefined,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    const late = sleep(timeoutMs, `no result within ${timeoutMs} ms`, { ref: false });
    const result = Promise.race([finished, late]).then(report);
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
