import { likelyMeant } from '@fw/core/options';
import { expect, test } from 'vitest';

import { serviceVariables, storeVariables } from './service-variables.ts';

const OURS = [
  ...Object.keys({ ...serviceVariables({ port: 1 }), ...storeVariables({ file: 'a' }) }),
  'JWT_SECRET',
  'JWT_SECRET_FILE',
  'USERS_URL',
  'REDIS_URL',
];

test.each([
  ['DATABSE_URL', 'DATABASE_URL'],
  ['DATABASE_URI', 'DATABASE_URL'],
  ['DATABASE-URL', 'DATABASE_URL'],
  ['database_url', 'DATABASE_URL'],
  ['DATBASE_ULR', 'DATABASE_URL'],
  ['HELATH_PORT', 'HEALTH_PORT'],
  ['LOGLEVEL', 'LOG_LEVEL'],
  ['JWT_SECRETS', 'JWT_SECRET'],
  ['JWT_SECRET_FIEL', 'JWT_SECRET_FILE'],
  ['DRAIN_DELAY', undefined],
  ['Port', 'PORT'],
])('%s is a misspelling of %s', (name, meant) => {
  expect(likelyMeant(name, OURS)).toBe(meant);
});

test.each([
  ...['HOME', 'HOSTNAME', 'NODE_OPTIONS', 'NODE_PATH', 'NODE_EXTRA_CA_CERTS', 'POST', 'SPORT'],
  ...['USERS_PORT', 'USERS_SERVICE_HOST', 'CATALOG_PORT', 'DATABASE_NAME', 'DATABASE_USER'],
  ...['OTEL_EXPORTER_OTLP_HEADERS', 'OTEL_SERVICE_NAME', 'LOGNAME', 'TZ', 'PGHOST', 'no_proxy'],
])('%s is not a misspelling', (name) => {
  expect(likelyMeant(name, OURS)).toBeUndefined();
});
