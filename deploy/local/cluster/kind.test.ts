import { expect, test } from 'vitest';

import { SERVICE_NAMES } from '../../../services/services.ts';
import { charts, type Rendered } from '../../charts/tests/render.ts';
import { chooseBackend } from './backend.ts';
import { platformValues } from './install.ts';

const tokenSecret = 'a secret of thirty-two characters';

/** The pods of the Deployments and StatefulSets, by the names of these. */
function podsOf(objects: readonly Rendered[]): Map<string, Rendered['spec']> {
  const workloads = objects.filter(({ kind }) => /^(Deployment|StatefulSet)$/.test(kind));
  return new Map(workloads.map(({ metadata, spec }) => [metadata.name, spec.template.spec]));
}

test('on kind, the chart runs the loaded images, and the port of the edge is that of the node', () => {
  const env = {
    TAG: '7',
    POSTGRES_IMAGE: 'local/postgres:17',
    NGINX_IMAGE: 'localhost:5000/nginx:1',
  };
  const imageIds = Object.fromEntries(SERVICE_NAMES.map((name) => [name, `id of ${name}`]));

  const objects = charts.render('platform', platformValues(env, { imageIds, tokenSecret }));

  const images = [...podsOf(objects).values()].map(({ containers }) => containers[0].image);
  expect(images).toEqual(
    expect.arrayContaining([
      ...SERVICE_NAMES.map((name) => `fw-${name}:7`),
      ...['localhost:5000/nginx:1', 'local/postgres:17'],
    ]),
  );
  const edge = objects.find(
    ({ kind, metadata }) => kind === 'Service' && metadata.name === 'fw-edge',
  );
  expect(edge?.spec).toMatchObject({ type: 'NodePort', ports: [{ nodePort: 30_080 }] });
});

test('on kind, the variables of make config configure the services', () => {
  const env = { LOG_LEVEL: 'warn', REQUEST_TIMEOUT_MS: '60000', WITHOUT_VERSION: 'v1' };

  // Variables of make and of a shell, and those that the chart sets from other values.
  const others = { PORT: '8190', HOST: 'laptop', NODE_ENV: 'test', JWT_SECRET: 'a'.repeat(32) };

  const objects = charts.render('platform', platformValues({ ...env, ...others }, { tokenSecret }));

  for (const name of SERVICE_NAMES) {
    const { containers, terminationGracePeriodSeconds } = podsOf(objects).get(`fw-${name}`);
    const variables = new Map<string, string>(
      containers[0].env.map((one: { name: string; value: string }) => [one.name, one.value]),
    );
    expect(Object.fromEntries(variables)).toMatchObject(env);
    for (const value of Object.values(others)) {
      expect([...variables.values()]).not.toContain(value);
    }
    expect(terminationGracePeriodSeconds).toBeGreaterThan(60);
  }
});

test('with external servers, the chart installs neither PostgreSQL nor Valkey, and their ports are open', () => {
  const DATABASE_URL = 'postgres://fw:secret@database.example:5433/fw';
  const env = { DATABASE_URL, REDIS_URL: 'redis://cache.example' };

  const objects = charts.render('platform', platformValues(env, { tokenSecret }));

  const names = [...podsOf(objects).keys()].sort();
  expect(names).toEqual(['edge', ...SERVICE_NAMES].map((name) => `fw-${name}`).sort());
  const policies = objects.filter(({ kind }) => kind === 'NetworkPolicy');
  expect(JSON.stringify(policies)).toContain('"ports":[{"port":5433}]');
  expect(JSON.stringify(policies)).toContain('"ports":[{"port":6379}]');
});

test.each([
  [
    { DATABASE_URL: 'postgres://localhost/fw' },
    'DATABASE_URL names this machine: expected an address that pods can reach',
  ],
  [
    { REDIS_URL: 'redis://[::1]:6379' },
    'REDIS_URL names this machine: expected an address that pods can reach',
  ],
  [
    { POSTGRES_IMAGE: 'postgres' },
    'POSTGRES_IMAGE is "postgres": expected an image and its tag, such as nginx:1.30',
  ],
])('on kind, %j is rejected in one line', (env, message) => {
  expect(() => platformValues(env)).toThrow(new Error(message));
});

test.each([
  ['k3s', undefined, 'BACKEND is "k3s": expected processes, kind'],
  ['kind', 'processes', 'The system runs on processes: "make down" first, then BACKEND=kind'],
] as const)('BACKEND=%s while %s runs is rejected', async (wanted, running, message) => {
  const choice = chooseBackend({ wanted, running, env: {}, log: () => {} });

  await expect(choice).rejects.toThrow(new Error(message));
});
