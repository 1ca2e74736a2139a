import { createRouter, endpoint, type Middleware, type Router } from 'fw';
import { requireAuth, type Verify } from './auth/require-auth.ts';
import { REPORT_KINDS } from './report-kinds.ts';
import { ReportListV1 } from './schemas.ts';

/** The path prefix of version 1. */
export const V1 = '/api/v1/reports';

export interface ReportRoutesV1Options {
  readonly verify: Verify;
  /** Runs before authentication and counts invalid tokens. */
  readonly failureLimiter: Middleware;
  /** Runs after authentication. */
  readonly limiter: Middleware;
}

/** Creates the routes of version 1. Its interface never changes. */
export function createReportRoutesV1({
  verify,
  failureLimiter,
  limiter,
}: ReportRoutesV1Options): Router {
  const reports = REPORT_KINDS.map(({ id, title, description }) => ({ id, title, description }));

  const router = createRouter();
  router.get(
    '/',
    endpoint({
      summary: 'List reports',
      operationId: 'listReportsV1',
      tags: ['Version 1'],
      responses: { 200: { schema: ReportListV1 } },
    }),
    failureLimiter,
    requireAuth(verify),
    limiter,
    (ctx) => ctx.json({ reports }),
  );
  return router;
}
