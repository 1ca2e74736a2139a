import {
  type Application,
  createApp,
  createRouter,
  type Logger,
  type Middleware,
  notFoundHandler,
} from 'fw';
import type { Drain } from '../app/protect.ts';
import { sendUnavailable } from '../app/responses.ts';
import { type Check, type CheckRunner, createCheckRunner } from './check.ts';

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
  let checks: readonly CheckRunner[] | undefined;

  const router = createRouter();
  router.get('/livez', (ctx) => ctx.json({ status: 'live' }));
  router.get('/startupz', (ctx) => {
    if (!checks) return sendUnavailable(ctx, { detail: 'The service is starting' });
    ctx.json({ status: 'started' });
  });
  router.get('/readyz', async (ctx) => {
    if (drain.isDraining) return sendUnavailable(ctx, { detail: 'The service is draining' });
    if (!checks) return sendUnavailable(ctx, { detail: 'The service is starting' });
    const outcomes = await Promise.all(checks.map(async (run) => [run.checkName, await run()]));
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
      checks = Object.entries(all).map(([name, check]) =>
        createCheckRunner(name, check, { logger, timeoutMs: checkTimeoutMs }),
      );
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
