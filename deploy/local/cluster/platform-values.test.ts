import { expect, test } from 'vitest';
import { SERVICE_NAMES, SERVICES } from '../../../services/services.ts';

import { charts } from '../../charts/tests/render.ts';
import { edgeLimitsOf, renderLimits } from '../processes/edge.ts';
import { clusterValues } from './platform-values.ts';

/** Renders the platform chart. */
const render = (values: ReturnType<typeof clusterValues>) => charts.render('platform', values);

test('the chart accepts every value that make up can set', () => {
  const env = {
    TAG: '7',
    POSTGRES_IMAGE: 'local/postgres:17',
    VALKEY_IMAGE: 'local/valkey:8',
    NGINX_IMAGE: 'local/nginx:1',
    LOG_LEVEL: 'warn',
    REQUEST_TIMEOUT_MS: '60000',
    BODY_LIMIT: '2097152',
    V1_SUNSET: '2027-12-31',
    WITHOUT_VERSION: 'v1',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318',
  };
  const imageIds = Object.fromEntries(SERVICE_NAMES.map((name) => [name, `id of ${name}`]));

  const objects = render(clusterValues({ env, ephemeral: true, nodePort: 30_080, imageIds }));

  const workloads = objects.filter(({ kind }) => /^(Deployment|StatefulSet)$/.test(kind));
  const images = workloads.map(({ spec }) => spec.template.spec.containers[0].image).sort();
  expect(images).toEqual([
    ...SERVICE_NAMES.map((name) => `fw-${name}:7`).sort(),
    'local/nginx:1',
    'local/postgres:17',
    'local/valkey:8',
  ]);
  const users = workloads.find(({ metadata }) => metadata.name === 'fw-users');
  expect(users?.spec.template.metadata.annotations['fw/image']).toBe('id of users');
  const edge = objects.find(
    ({ kind, metadata }) => kind === 'Service' && metadata.name === 'fw-edge',
  );
  expect(edge?.spec).toMatchObject({ type: 'NodePort', ports: [{ nodePort: 30_080 }] });
  const configs = objects.filter(({ kind }) => kind === 'ConfigMap').map(({ data }) => data);
  const services = configs.filter((data) => 'LOG_LEVEL' in data);
  expect(services).toHaveLength(SERVICE_NAMES.length);
  for (const data of services) {
    expect(data).toMatchObject({
      LOG_LEVEL: 'warn',
      REQUEST_TIMEOUT_MS: '60000',
      V1_SUNSET: '2027-12-31',
      WITHOUT_VERSION: 'v1',
    });
  }
  const withLimit = SERVICES.filter(({ environment }) => environment.includes('BODY_LIMIT'));
  expect(services.filter((data) => data.BODY_LIMIT === '2097152')).toHaveLength(withLimit.length);
  expect(configs.find((data) => 'limits.conf' in data)?.['limits.conf']).toBe(
    renderLimits(edgeLimitsOf(env)),
  );
});

test.each([
  {},
  { REQUEST_TIMEOUT_MS: '1500', BODY_LIMIT: '1000' },
  { REQUEST_TIMEOUT_MS: '600000', BODY_LIMIT: '67108864' },
])('the edge has the same limits in the chart as on this machine, with %j', (env) => {
  const objects = render(clusterValues({ env, ephemeral: true }));

  const edge = objects.find(({ kind, data }) => kind === 'ConfigMap' && 'limits.conf' in data);
  expect(edge?.data['limits.conf']).toBe(renderLimits(edgeLimitsOf(env)));
});

test('with external servers, the chart installs neither PostgreSQL nor Valkey', () => {
  const env = {
    DATABASE_URL: 'postgres://fw:secret@database.example:5433/fw',
    REDIS_URL: 'redis://cache.example:6380',
  };

  const objects = render(clusterValues({ env, ephemeral: false }));

  const names = objects
    .filter(({ kind }) => /^(Deployment|StatefulSet)$/.test(kind))
    .map(({ metadata }) => metadata.name)
    .sort();
  expect(names).toEqual(['edge', ...SERVICE_NAMES].map((name) => `fw-${name}`).sort());
});

test('IMAGE_PREFIX applies unless the images were loaded onto the nodes', () => {
  const env = { IMAGE_PREFIX: 'registry.example/fw/', TAG: '7' };

  expect(clusterValues({ env, ephemeral: true })).toMatchObject({
    users: { image: { registry: 'registry.example/fw', tag: '7' } },
  });
  expect(clusterValues({ env, ephemeral: true, imageIds: {} })).toMatchObject({
    users: { image: { registry: '', tag: '7' } },
  });
  expect(clusterValues({ env: {}, ephemeral: true })).toMatchObject({
    users: { image: { registry: '', tag: 'dev' } },
  });
});

test.each([
  ['DATABASE_URL', 'postgres://localhost/fw'],
  ['DATABASE_URL', 'postgres:///fw?host=/run/postgresql'],
  ['REDIS_URL', 'redis://127.0.0.1:6379'],
  ['REDIS_URL', 'redis://[::1]:6379'],
])('%s=%s is rejected, because pods cannot reach it', (name, address) => {
  expect(() => clusterValues({ env: { [name]: address }, ephemeral: true })).toThrow(
    `${name} names this machine: expected an address that pods can reach`,
  );
});
