import {
  createServiceApp,
  documents,
  mountVersions,
  retirementOf,
  type ServiceRuntime,
  type TokenOptions,
  type VersionConfig,
} from '@fw/service';
import { type Application, type Middleware, notFoundHandler } from 'fw';

import packageJson from '../package.json' with { type: 'json' };
import { createAuthentication } from './authentication.ts';
import { V1_DEPRECATED_SINCE } from './config.ts';
import type { Limits } from './limits.ts';
import type { ReadFigures } from './read-figures.ts';
import { createReportRoutesV1, V1 } from './v1.ts';
import { createReportRoutesV2, V2 } from './v2.ts';

export interface ReportsAppOptions extends ServiceRuntime {
  readonly tokens: TokenOptions;
  readonly readFigures: ReadFigures;
  readonly limits: Limits;
  readonly now?: () => Date;
  /** Default: every version is served. */
  readonly versionConfig?: VersionConfig;
}

const INFO = {
  title: 'Reports',
  version: packageJson.version,
  description: `Reports on users and on the catalog. A bearer token is required; its \`tier\` determines the rate limit.

Version 1 is deprecated and does not change.`,
};

/** Creates the reports API. */
export function createReportsApp({
  tokens,
  readFigures,
  limits,
  now = () => new Date(),
  versionConfig,
  ...runtime
}: ReportsAppOptions): Application {
  const counted = (name: string, limiter: Middleware) =>
    runtime.metrics?.countDecisions(`reports-${name}`, limiter) ?? limiter;
  const failureLimiter = counted('invalid-tokens', limits.invalidTokens);
  const authenticate = createAuthentication(tokens, failureLimiter);
  const v1 = createReportRoutesV1({ authenticate, limiter: counted('v1', limits.v1) });
  const v2 = createReportRoutesV2({
    authenticate,
    limiter: counted('v2', limits.v2),
    readFigures,
    now,
  });

  const app = createServiceApp(runtime);
  const retirement = retirementOf({ since: V1_DEPRECATED_SINCE, successor: V2 }, versionConfig);
  const routers = mountVersions(
    app,
    [
      { name: 'v2', path: V2, router: v2 },
      { name: 'v1', path: V1, router: v1, ...retirement },
    ],
    { metrics: runtime.metrics, proxyErrors: [502, 503, 504] },
  );
  app.use(
    documents({
      name: 'reports',
      ...INFO,
      license: { name: 'MIT', identifier: 'MIT' },
      routers,
    }),
  );
  app.use(notFoundHandler());
  return app;
}
