import { setTimeout as sleep } from 'node:timers/promises';

import {
  type Application,
  type Context,
  createApp,
  createRouter,
  type Logger,
  notFoundHandler,
} from 'fw';

import type { Drain } from './drain.ts';

/** Resolves if a part of the service works, rejects if not. */
export type Check = () => Promise<void>;

export interface HealthOptions {
  /** What the service cannot do without, by name. */
  readonly checks: Readonly<Record<string, Check>>;
  readonly drain: Drain;
  readonly logger: Logger;
  /** How long one check may take. Default 1 s. */
  readonly timeoutMs?: number;
}

/**
 * Answers `/livez` (the process runs) and `/readyz` (it may be sent requests: every check passes and
 * it is not draining). Liveness depends on nothing else, so that a restart is never the answer to a
 * store that is away.
 */
export function createHealthApp({
  checks,
  drain,
  logger,
  timeoutMs = 1_000,
}: HealthOptions): Application {
  const router = createRouter();
  router.get('/livez', (ctx) => ctx.json({ status: 'live' }));
  router.get('/readyz', async (ctx) => {
    ctx.set('Cache-Control', 'no-store');
    if (drain.isDraining) return refuse(ctx, 'The service is draining');
    const passed = await Promise.all(
      Object.entries(checks).map(([name, check]) => passes(name, check)),
    );
    if (passed.includes(false)) return refuse(ctx, 'A check failed');
    ctx.json({ status: 'ready' });
  });

  async function passes(name: string, check: Check): Promise<boolean> {
    try {
      await Promise.race([check(), expire(timeoutMs)]);
      return true;
    } catch (error) {
      logger.warn(`Check "${name}" failed: ${error instanceof Error ? error.message : error}`);
      return false;
    }
  }

  const app = createApp({ logger: prefixed(logger) });
  app.route('/', router);
  app.use(router.allowedMethods());
  app.use(notFoundHandler());
  return app;
}

/** Recorded, not thrown: a probe that is told to wait is no error to log. */
function refuse(ctx: Context, detail: string): void {
  ctx.status = 503;
  ctx.set('Content-Type', 'application/problem+json');
  ctx.json({
    type: 'about:blank',
    title: 'Service Unavailable',
    status: 503,
    detail,
    code: 'SERVICE_UNAVAILABLE',
    requestId: ctx.requestId,
  });
}

async function expire(timeoutMs: number): Promise<never> {
  await sleep(timeoutMs, undefined, { ref: false });
  throw new Error(`no answer within ${timeoutMs} ms`);
}

function prefixed(logger: Logger): Logger {
  return { ...logger, info: (message) => logger.info(`Health: ${message}`) };
}
