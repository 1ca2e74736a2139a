import { runService } from '@fw/service';

import { createReportsApp } from './app.ts';
import { type ReportsConfig, readReportsConfig } from './config.ts';
import { tokenVerifier } from './tokens.ts';

await runService<ReportsConfig>({
  name: 'reports',
  readConfig: readReportsConfig,
  start(config, edge) {
    return { app: createReportsApp({ ...edge, verify: tokenVerifier(config.tokens) }) };
  },
});
