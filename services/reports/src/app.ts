import { deprecation } from '@fw/middleware/deprecation';
import { createServiceApp, documents, type ServiceEdge, V1_DEPRECATED_SINCE } from '@fw/service';
import { type Application, type Middleware, notFoundHandler } from 'fw';

import { createLimits, type Limits } from './limits.ts';
import type { ReadFigures } from './read-figures.ts';
import type { Verify } from './require-auth.ts';
import { reportRoutesV1 } from './v1.ts';
import { reportRoutesV2, V2 } from './v2.ts';

export interface ReportsAppOptions extends ServiceEdge {
  readonly verify: Verify;
  readonly readFigures: ReadFigures;
  /** What one user may ask for. Default: see `createLimits`. */
  readonly limits?: Limits;
  readonly now?: () => Date;
}

const V1 = '/api/v1/reports';

const DESCRIPTION = `Reports on users and on the catalog, for those who have a token.

How much a user may ask for is decided by the \`tier\` in their token. Version 1 is deprecated, and
stays as it is.`;

/** Creates the reports API for those whose tokens `verify` knows. */
export function createReportsApp({
  verify,
  readFigures,
  limits = createLimits(),
  now = () => new Date(),
  ...edge
}: ReportsAppOptions): Application {
  const counted = (name: string, limiter: Middleware) =>
    edge.metrics?.countDecisions(`reports-${name}`, limiter) ?? limiter;
  const failureLimiter = counted('invalid-tokens', limits.invalidTokens);
  const authentication = { verify, failureLimiter };
  const v1 = reportRoutesV1({ ...authentication, limiter: counted('v1', limits.v1) });
  const v2 = reportRoutesV2({
    ...authentication,
    limiter: counted('v2', limits.v2),
    readFigures,
    now,
  });

  const app = createServiceApp(edge);
  app.use(V1, deprecation({ from: V1, to: V2, since: V1_DEPRECATED_SINCE }));
  app.route(V2, v2);
  app.route(V1, v1);
  app.use(v2.allowedMethods());
  app.use(v1.allowedMethods());
  app.use(
    documents({
      name: 'reports',
      title: 'Reports',
      description: DESCRIPTION,
      routers: [v2, v1],
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
      },
    }),
  );
  app.use(notFoundHandler());
  return app;
}
