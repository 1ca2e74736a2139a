import { runService } from '@fw/service';

import { createReportsApp } from './app.ts';
import { requireOneKind, tokenKeysOf, VARIABLES } from './config.ts';
import { jwtVerifier } from './jwt.ts';
import { openLimitStore } from './limit-store.ts';
import { createLimits } from './limits.ts';

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
    const limits = createLimits({ perMinute, store });
    // No check: without Redis each replica limits, and without the others a report says what is missing.
    return { app: createReportsApp({ ...edge, verify, limits }), close };
  },
});
