import { createServiceClient, runService } from '@fw/service';

import { createReportsApp } from './app.ts';
import { requireOneKind, tokenKeysOf, VARIABLES } from './config.ts';
import { jwtVerifier } from './jwt.ts';
import { openLimitStore } from './limit-store.ts';
import { createLimits } from './limits.ts';
import { figuresReader } from './read-figures.ts';

await runService({
  name: 'reports',
  summary: 'reports on users and items, for those who have a token',
  variables: VARIABLES,
  rule: requireOneKind,
  async start(config, edge) {
    const verify = jwtVerifier({
      keys: tokenKeysOf(config),
      issuer: config.JWT_ISSUER,
      audience: config.JWT_AUDIENCE,
    });
    const { store, close } = await openLimitStore(config.REDIS_URL);
    const perMinute = { free: config.RATE_LIMIT_FREE, pro: config.RATE_LIMIT_PRO };
    const limits = createLimits({
      perMinute,
      invalidTokens: config.RATE_LIMIT_INVALID_TOKENS,
      store,
    });
    const timeoutMs = config.FIGURES_TIMEOUT_MS;
    const clients = {
      users: createServiceClient({ name: 'users', baseUrl: config.USERS_URL, timeoutMs }),
      catalog: createServiceClient({
        name: 'catalog',
        baseUrl: config.CATALOG_URL,
        timeoutMs,
        limitBytes: 4 * 1024 ** 2, // 10,000 categories are half of it
      }),
    };
    const readFigures = figuresReader(clients);
    return {
      // No check: without Redis each replica limits, and without the others a report says what is missing.
      app: createReportsApp({ ...edge, verify, limits, readFigures }),
      async close() {
        clients.users.close();
        clients.catalog.close();
        await close();
      },
    };
  },
});
