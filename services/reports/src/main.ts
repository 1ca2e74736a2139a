import { runService } from '@fw/service';

import { createReportsApp } from './app.ts';
import { missingTokens, VARIABLES } from './config.ts';
import { readTokens, tokenVerifier } from './tokens.ts';

await runService({
  name: 'reports',
  summary: 'reports on users and items, for those who have a token',
  variables: VARIABLES,
  rule: missingTokens,
  start({ TOKENS = '' }, edge) {
    return { app: createReportsApp({ ...edge, verify: tokenVerifier(readTokens(TOKENS)) }) };
  },
});
