import path from 'node:path';

import { type AnyVariables, describeVariables } from '@fw/service';
import { afterAll, expect, test } from 'vitest';
import { parse } from 'yaml';

import { VARIABLES as CATALOG } from '../../../services/catalog/src/config.ts';
import { VARIABLES as REPORTS } from '../../../services/reports/src/config.ts';
import { VARIABLES as USERS } from '../../../services/users/src/config.ts';
import { CHARTS } from '../dependencies.ts';
import { readValues } from '../values.ts';
import { NEEDED, only, packCharts } from './render.ts';

const charts = packCharts();
afterAll(() => charts[Symbol.dispose]());

/** Variables that a pod has from other values, by the chart's own choice or from a Secret. */
const FROM_OTHER_VALUES = [
  ...['PORT', 'HEALTH_PORT', 'LOG_FORMAT', 'DRAIN_TIMEOUT_MS'],
  ...['DATABASE_FILE', 'DATABASE_URL', 'REDIS_URL', 'USERS_URL', 'CATALOG_URL'],
  ...['JWT_SECRET', 'JWT_JWKS_URL', 'JWT_ALGORITHM', 'JWT_ISSUER', 'JWT_AUDIENCE'],
  // The image has the file where the service looks for it.
  'DATA_FILE',
];

/** Where a pod differs from a process on a laptop. */
const OF_A_POD = { HOST: '0.0.0.0', TRUST_PROXY: 1 };

const SERVICES: readonly [string, AnyVariables][] = [
  ['users', USERS],
  ['catalog', CATALOG],
  ['reports', REPORTS],
];

test.each(SERVICES)(
  '%s: values.yaml has each variable of the service, with its default',
  (name, variables) => {
    const described = describeVariables(variables).filter(
      (variable) => !FROM_OTHER_VALUES.includes(variable.name),
    );
    const expected = Object.fromEntries(
      described.map((variable) => [variable.name, parse(variable.default ?? '""')]),
    );
    const values = readValues(path.join(CHARTS, name)).filter(
      ({ path: [top], path: keys }) => top === 'config' && keys.length === 2,
    );
    const found = Object.fromEntries(values.map((value) => [value.path[1], value.default]));

    expect(found).toEqual({ ...expected, ...OF_A_POD });
  },
);

test.each(SERVICES)(
  '%s: a pod has each value of config, but no empty variable',
  (name, variables) => {
    const config = { MAX_IN_FLIGHT: 7, MAX_EVENT_LOOP_LAG_MS: 8, HOST: '::' };
    const { data } = only(charts.render(name, { ...NEEDED[name], config }), 'ConfigMap');

    expect(data).toMatchObject({ MAX_IN_FLIGHT: '7', MAX_EVENT_LOOP_LAG_MS: '8', HOST: '::' });
    expect(data).not.toHaveProperty('OTEL_EXPORTER_OTLP_ENDPOINT');
    const known = Object.keys(variables);
    expect(Object.keys(data).filter((key) => !known.includes(key))).toEqual([]);
  },
);
