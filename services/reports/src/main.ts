import type { paths as CatalogPaths } from '@fw/catalog/openapi/v2.d.ts';
import { createServiceClient, requireTokenKey, runService, tokenOptionsOf } from '@fw/service';
import type { paths as UsersPaths } from '@fw/users/openapi/v2.d.ts';

import { createReportsApp } from './app.ts';
import { VARIABLES } from './config.ts';
import { createLimits, openLimitStore } from './limits.ts';
import { createFiguresReader } from './read-figures.ts';

await runService({
  name: 'reports',
  summary: 'reports on users and items; requires a bearer token',
  variables: VARIABLES,
  rule: requireTokenKey,
  async start(config, runtime) {
    const { store, close } = await openLimitStore(() => config.REDIS_URL, runtime.logger);
    const perMinute = {
      free: config.RATE_LIMIT_FREE,
      pro: config.RATE_LIMIT_PRO,
      invalidTokens: config.RATE_LIMIT_INVALID_TOKENS,
    };
    const limits = createLimits(perMinute, store);
    const common = {
      timeoutMs: config.FIGURES_TIMEOUT_MS,
      headers: { 'User-Agent': 'fw-reports' },
    };
    const clients = {
      users: createServiceClient<UsersPaths>({
        ...common,
        name: 'users',
        baseUrl: config.USERS_URL,
      }),
      catalog: createServiceClient<CatalogPaths>({
        ...common,
        name: 'catalog',
        baseUrl: config.CATALOG_URL,
        limitBytes: 4 * 1024 ** 2, // 10,000 categories are half of it
      }),
    };
    const readFigures = createFiguresReader(clients);
    return {
      // No check: without Redis each replica counts alone, without users or catalog reports are partial.
      app: createReportsApp({
        ...runtime,
        tokens: tokenOptionsOf(config),
        limits,
        readFigures,
        versionConfig: config,
      }),
      close,
    };
  },
});
