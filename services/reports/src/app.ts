import { createServiceApp, type ServiceEdge, superseded, V1_DEPRECATED_SINCE } from '@fw/service';
import { type Application, notFoundHandler } from 'fw';

import { createLimits, type Limits } from './limits.ts';
import type { Verify } from './require-auth.ts';
import { reportRoutes } from './v1.ts';

export interface ReportsAppOptions extends ServiceEdge {
  readonly verify: Verify;
  /** What one user may ask for. Default: see `createLimits`. */
  readonly limits?: Limits;
}

const V1 = '/api/v1/reports';
const V2 = '/api/v2/reports';

/** Creates the reports API for those whose tokens `verify` knows. */
export function createReportsApp({
  verify,
  limits = createLimits(),
  ...edge
}: ReportsAppOptions): Application {
  const v1 = reportRoutes({ verify, limiter: limits.v1 });

  const app = createServiceApp(edge);
  app.use(V1, superseded({ from: V1, to: V2, since: V1_DEPRECATED_SINCE }));
  app.route(V1, v1);
  app.use(v1.allowedMethods());
  app.use(notFoundHandler());
  return app;
}
