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

const SECRETS = new Set(['DATABASE_URL', 'OTEL_EXPORTER_OTLP_HEADERS']);

test.each(Object.keys(allVariables()))(
  '%s has a meaning, and a unit if it is a time or a size',
  (name) => {
    const variable = describeVariables(allVariables()).find((each) => each.name === name);

    expect(variable?.meaning).toMatch(/^\S.{10,}$/);
    expect(variable?.unit).toBe(
      /_(?:MS|TIMEOUT)$/.test(name) ? 'ms' : name === 'BODY_MEMORY' ? 'bytes' : undefined,
    );
    expect(variable?.secret).toBe(SECRETS.has(name));
  },
);

test.each([
  ['LOG_FORMAT', ['auto', 'json', 'pretty'], ['JSON', 'text']],
  ['LOG_REDACT', ['', 'password, user.email', 'items[*].token'], ['a..b', 'a,b c', 'items[']],
  ['SERVICE_VERSION', ['x'.repeat(128)], ['x'.repeat(129)]],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', ['http://a:4318', 'https://a'], ['grpc://a', 'a:4318']],
  ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', ['http://a/v1/traces'], ['a:4318']],
  ['OTEL_EXPORTER_OTLP_PROTOCOL', ['http/json'], ['grpc', 'http/protobuf']],
  ['OTEL_EXPORTER_OTLP_HEADERS', ['a=b', 'a=b%2C, c='], ['token', '=b', 'a=b=c', 'a=%ZZ']],
  ['OTEL_TRACES_SAMPLER', ['always_off', 'parentbased_traceidratio'], ['jaeger_remote', 'ON']],
  ['OTEL_RESOURCE_ATTRIBUTES', ['a=b', 'a=b,c=d,'], ['a', 'a=b,c', 'a=1=2']],
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
  ['0', 0],
  ['0.25', 0.25],
  ['1', 1],
])('OTEL_TRACES_SAMPLER_ARG=%s is the share %d', (text, share) => {
  const config = readConfig(allVariables(), { OTEL_TRACES_SAMPLER_ARG: text });

  expect(config.OTEL_TRACES_SAMPLER_ARG).toBe(share);
});

test.each(['1.5', '-1', 'half', '1e-1'])('OTEL_TRACES_SAMPLER_ARG=%s is rejected', (text) => {
  expect(() => readConfig(allVariables(), { OTEL_TRACES_SAMPLER_ARG: text })).toThrow(
    `OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1, got "${text}"`,
  );
});

test.each([
  ['999', []],
  ['1000', ['DRAIN_TIMEOUT_MS must be more than DRAIN_DELAY_MS, got 1000']],
])('a drain of 1,000 ms must be longer than its delay of %s ms', (delayMs, problems) => {
  const config = readConfig(allVariables(), { DRAIN_DELAY_MS: delayMs, DRAIN_TIMEOUT_MS: '1000' });

  expect(requireDrainTime(config)).toEqual(problems);
});
