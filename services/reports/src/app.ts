import { deprecation } from '@fw/middleware/deprecation';
import { createServiceApp, documents, type ServiceRuntime, V1_DEPRECATED_SINCE } from '@fw/service';
import { type Application, type Middleware, notFoundHandler } from 'fw';
import type { Verify } from './auth/require-auth.ts';
import { createLimits, type Limits } from './limits/limits.ts';
import { V1, V2 } from './paths.ts';
import type { ReadStatistics } from './statistics/read-statistics.ts';
import { createReportRoutesV1 } from './v1.ts';
import { createReportRoutesV2 } from './v2.ts';

export interface ReportsAppOptions extends ServiceRuntime {
  readonly verify: Verify;
  readonly readStatistics: ReadStatistics;
  /** Default: see `createLimits`. */
  readonly limits?: Limits;
  readonly now?: () => Date;
}

const DESCRIPTION = `Reports on users and on the catalog. A bearer token is required; its \`tier\` determines the rate limit.

Version 1 is deprecated and does not change.`;

/** Creates the reports API. */
export function createReportsApp({
  verify,
  readStatistics,
  limits = createLimits(),
  now = () => new Date(),
  ...runtime
}: ReportsAppOptions): Application {
  const counted = (name: string, limiter: Middleware) =>
    runtime.metrics?.countDecisions(`reports-${name}`, limiter) ?? limiter;
  const failureLimiter = counted('invalid-tokens', limits.invalidTokens);
  const authentication = { verify, failureLimiter };
  const v1 = createReportRoutesV1({ ...authentication, limiter: counted('v1', limits.v1) });
  const v2 = createReportRoutesV2({
    ...authentication,
    limiter: counted('v2', limits.v2),
    readStatistics,
    now,
  });

  const app = createServiceApp(runtime);
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
