import { createServiceApp, type ServiceEdge, superseded, V1_DEPRECATED_SINCE } from '@fw/service';
import { type Application, type Middleware, notFoundHandler } from 'fw';

import { limitPerUser } from './limit-per-user.ts';
import type { Verify } from './require-auth.ts';
import { reportRoutes } from './v1.ts';

export interface ReportsAppOptions extends ServiceEdge {
  readonly verify: Verify;
  /** Limits what one user may ask for. Default: 100 answers a minute. */
  readonly limiter?: Middleware;
}

const V1 = '/api/v1/reports';
const V2 = '/api/v2/reports';

/** Creates the reports API for those whose tokens `verify` knows. */
export function createReportsApp({
  verify,
  limiter = limitPerUser(),
  ...edge
}: ReportsAppOptions): Application {
  const v1 = reportRoutes({ verify, limiter });

  const app = createServiceApp(edge);
  app.use(V1, superseded({ from: V1, to: V2, since: V1_DEPRECATED_SINCE }));
  app.route(V1, v1);
  app.use(v1.allowedMethods());
  app.use(notFoundHandler());
  return app;
}
