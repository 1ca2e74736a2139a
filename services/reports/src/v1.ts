import { createRouter, endpoint, type Router } from 'fw';

import type { Protection } from './authentication.ts';
import { REPORT_KINDS } from './report-kinds.ts';
import { ReportListV1 } from './schemas.ts';

/** The path prefix of version 1. */
export const V1 = '/api/v1/reports';

/** Creates the routes of version 1. Its interface never changes. */
export function createReportRoutesV1({ authenticate, limiter }: Protection): Router {
  const reports = REPORT_KINDS.map(({ id, title, description }) => ({ id, title, description }));

  const router = createRouter();
  router.use(authenticate, limiter);
  router.get(
    '/',
    endpoint({
      summary: 'List reports',
      operationId: 'listReportsV1',
      tags: ['Version 1'],
      responses: { 200: { schema: ReportListV1 } },
    }),
    (ctx) => ctx.json({ reports }),
  );
  return router;
}
