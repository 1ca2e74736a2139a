import { createRouter, type Middleware, type Router } from 'fw';

import { REPORTS } from './report.ts';
import { requireAuth, type Verify } from './require-auth.ts';

export interface ReportRoutesOptions {
  readonly verify: Verify;
  /** Runs for authenticated requests, before the answer is made. */
  readonly limiter: Middleware;
}

/** The first version of the API, whose shapes never change. */
export function reportRoutes({ verify, limiter }: ReportRoutesOptions): Router {
  const router = createRouter();
  router.get('/', requireAuth(verify), limiter, (ctx) => {
    ctx.json({ reports: REPORTS });
  });
  return router;
}
