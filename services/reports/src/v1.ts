import { documented } from '@fw/openapi';
import { createRouter, type Middleware, type Router } from 'fw';

import { REPORT_KINDS } from './report-kinds.ts';
import { requireAuth, type Verify } from './require-auth.ts';
import { ReportListV1 } from './schemas.ts';

export interface ReportRoutesOptions {
  readonly verify: Verify;
  /** Runs before authentication, and counts failures of it. */
  readonly failureLimiter: Middleware;
  /** Runs for authenticated requests, before the answer is made. */
  readonly limiter: Middleware;
}

/** The first version of the API, whose shapes never change. */
export function reportRoutesV1({ verify, failureLimiter, limiter }: ReportRoutesOptions): Router {
  const reports = REPORT_KINDS.map(({ id, title, description }) => ({ id, title, description }));

  const router = createRouter();
  router.get(
    '/',
    documented({
      summary: 'List reports',
      operationId: 'listReportsV1',
      tags: ['Version 1'],
      deprecated: true,
      responses: { 200: { schema: ReportListV1 } },
    }),
    failureLimiter,
    requireAuth(verify),
    limiter,
    (ctx) => ctx.json({ reports }),
  );
  return router;
}
