import { expect, test } from 'vitest';

import { readConfig } from './read-config.ts';
import { postgresOptions, serviceVariables, storeVariables } from './service-variables.ts';

const VARIABLES = { ...serviceVariables({ port: 8080 }), ...storeVariables({ file: 'test.db' }) };

test.each([
  ['20000', '5000', 15_000],
  ['6000', '5000', 3_000],
  ['0', '5000', Number.POSITIVE_INFINITY],
])(
  'with REQUEST_TIMEOUT_MS=%s and DATABASE_STATEMENT_TIMEOUT_MS=%s a call waits %d ms for a connection',
  (requestMs, statementMs, waitTimeoutMs) => {
    const config = readConfig(VARIABLES, {
      REQUEST_TIMEOUT_MS: requestMs,
      DATABASE_STATEMENT_TIMEOUT_MS: statementMs,
    });

    expect(postgresOptions(config)).toMatchObject({ waitTimeoutMs });
  },
);
