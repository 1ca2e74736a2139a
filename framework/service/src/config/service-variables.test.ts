import { expect, test } from 'vitest';

import { readConfig } from './read-config.ts';
import {
  postgresOptions,
  requireDrainTime,
  serviceVariables,
  storeVariables,
} from './service-variables.ts';
import { describeVariables } from './variables.ts';

/** The variables of a service with a store. */
function allVariables() {
  return { ...serviceVariables({ port: 8080 }), ...storeVariables({ file: 'test.db' }) };
}

test.each([
  ['20000', '5000', 15_000],
  ['6000', '5000', 3_000],
  ['0', '5000', Number.POSITIVE_INFINITY],
])(
  'with REQUEST_TIMEOUT_MS=%s and DATABASE_STATEMENT_TIMEOUT_MS=%s a call waits %d ms for a connection',
  (requestMs, statementMs, waitTimeoutMs) => {
    const config = readConfig(allVariables(), {
      REQUEST_TIMEOUT_MS: requestMs,
      DATABASE_STATEMENT_TIMEOUT_MS: statementMs,
    });

    expect(postgresOptions(config)).toMatchObject({ waitTimeoutMs });
  },
);

test.each(Object.keys(allVariables()))(
  '%s has a meaning, and a unit if it is a time or a size',
  (name) => {
    const variable = describeVariables(allVariables()).find((each) => each.name === name);

    expect(variable?.meaning).toMatch(/^\S.{10,}$/);
    expect(variable?.unit).toBe(
      name.endsWith('_MS') ? 'ms' : name === 'BODY_MEMORY' ? 'bytes' : undefined,
    );
    expect(variable?.secret).toBe(name === 'DATABASE_URL');
  },
);

test.each([
  ['LOG_FORMAT', ['auto', 'json', 'pretty'], ['JSON', 'text']],
  ['LOG_REDACT', ['', 'password, user.email', 'items[*].token'], ['a..b', 'a,b c', 'items[']],
  ['SERVICE_VERSION', ['x'.repeat(128)], ['x'.repeat(129)]],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', ['http://a:4318', 'https://a'], ['grpc://a', 'a:4318']],
  ['DATABASE_URL', ['postgres://a/b', 'postgresql://a/b'], ['mysql://a/b']],
])('%s accepts only valid values', (name, valid, invalid) => {
  for (const value of valid) {
    expect(readConfig(allVariables(), { [name]: value })).toMatchObject({ [name]: value });
  }
  for (const value of invalid) {
    expect(() => readConfig(allVariables(), { [name]: value })).toThrow(`${name} must `);
  }
});

test.each([
  ['999', []],
  ['1000', ['DRAIN_TIMEOUT_MS must be more than DRAIN_DELAY_MS, got 1000']],
])('a drain of 1,000 ms must be longer than its delay of %s ms', (delayMs, problems) => {
  const config = readConfig(allVariables(), { DRAIN_DELAY_MS: delayMs, DRAIN_TIMEOUT_MS: '1000' });

  expect(requireDrainTime(config)).toEqual(problems);
});
