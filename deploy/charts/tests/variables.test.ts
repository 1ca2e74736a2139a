import { expect, test } from 'vitest';

import { SERVICE_NAMES } from '../../../services/services.ts';
import { VARIABLES } from '../../local/service-variables.ts';
import { charts, NEEDED, only } from './render.ts';

test.each(SERVICE_NAMES)('a pod of %s has each value of config, and no empty variable', (name) => {
  const config = { MAX_IN_FLIGHT: 7, HOST: '::' };
  const { data } = only(charts.render(name, { ...NEEDED[name], config }), 'ConfigMap');

  expect(data).toMatchObject({ MAX_IN_FLIGHT: '7', HOST: '::' });
  expect(data).not.toHaveProperty('OTEL_EXPORTER_OTLP_ENDPOINT');
  const known = Object.keys(VARIABLES[name]);
  expect(Object.keys(data).filter((key) => !known.includes(key))).toEqual([]);
});

test.each(SERVICE_NAMES)('the chart %s can set each variable of the service', (name) => {
  const databaseUrl = { store: { type: 'postgres', postgres: { url: 'postgres://db/a' } } };
  const redisUrl = { rateLimit: { store: 'redis', redis: { url: 'redis://cache' } } };
  const jwksUrl = { jwt: { jwksUrl: 'https://keys.example.org' } };
  const config = {
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318',
    V1_SUNSET: '2027-12-31',
    WITHOUT_VERSION: 'v1',
  };
  const shared = name === 'reports' ? redisUrl : databaseUrl;
  const found = [NEEDED[name], shared, name === 'reports' ? { ...shared, ...jwksUrl } : {}].flatMap(
    (values) => {
      const objects = charts.render(name, { ...NEEDED[name], ...values, config });
      const secrets = objects.find(({ kind }) => kind === 'Secret')?.stringData ?? {};
      return [...Object.keys(only(objects, 'ConfigMap').data), ...Object.keys(secrets)];
    },
  );

  // The image contains the data file of catalog, and the service knows its path.
  const expected = Object.keys(VARIABLES[name]).filter((variable) => variable !== 'DATA_FILE');
  expect([...new Set(found)].sort()).toEqual(expected.sort());
});
