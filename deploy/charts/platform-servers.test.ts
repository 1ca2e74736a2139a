import { afterAll, expect, test } from 'vitest';

import { namesOf, podsOf, selected } from './testing/platform.ts';
import { only, packCharts, type Rendered, type Values } from './testing/render.ts';

const charts = packCharts();
afterAll(() => charts[Symbol.dispose]());

const objects = charts.render('platform', {
  postgres: { password: 'a-password-for-postgres' },
  valkey: { password: 'a-password-for-valkey' },
  tokens: { secret: 'a secret of thirty-two characters' },
});
const secretOf = (name: string): Record<string, string> => only(objects, 'Secret', name).stringData;

test('a password that is given is the one in the address and in the configuration', () => {
  const { password, url } = secretOf('fw-postgres');
  const valkey = secretOf('fw-valkey');

  expect(password).toBe('a-password-for-postgres');
  expect(url).toBe('postgres://fw:a-password-for-postgres@fw-postgres:5432/fw');
  expect(valkey.url).toBe('redis://default:a-password-for-valkey@fw-valkey:6379');
  expect(valkey['valkey.conf']).toContain('requirepass a-password-for-valkey\n');
  expect(secretOf('fw-tokens').secret).toBe('a secret of thirty-two characters');
});

test('one that is not given is long, and another one each time', () => {
  const passwordOf = () =>
    only(charts.render('platform'), 'Secret', 'fw-postgres').stringData.password;

  expect(passwordOf()).toMatch(/^[A-Za-z0-9]{40}$/);
  expect(passwordOf()).not.toBe(passwordOf());
});

test('no password stands in the environment or the arguments of a pod', () => {
  for (const { name, spec } of podsOf(objects)) {
    expect(JSON.stringify(spec), name).not.toMatch(/a-password-for|a secret of/);
  }
});

test('every server is called by the name of its Service', () => {
  const { data } = only(objects, 'ConfigMap', 'fw-reports');
  const urls = [
    secretOf('fw-postgres').url,
    secretOf('fw-valkey').url,
    data.USERS_URL,
    data.CATALOG_URL,
  ];
  const hosts = urls.map((url) => new URL(url).hostname);

  expect(hosts).toEqual(['fw-postgres', 'fw-valkey', 'fw-users', 'fw-catalog']);
  expect(namesOf(objects, 'Service')).toEqual(expect.arrayContaining(hosts));
});

test.each([
  { server: 'postgres', port: 5432, callers: ['fw-catalog', 'fw-users'] },
  { server: 'valkey', port: 6379, callers: ['fw-reports'] },
])('$server lets in $callers, and nothing out', ({ server, port, callers }) => {
  const { ingress, egress } = only(objects, 'NetworkPolicy', `fw-${server}`).spec;
  const found = ingress[0].from.flatMap(({ podSelector }: Rendered) =>
    selected(podsOf(objects), podSelector.matchLabels),
  );

  expect(egress).toEqual([]);
  expect(ingress[0].ports).toEqual([{ port }]);
  expect(found.map(({ name }: { name: string }) => name).sort()).toEqual(callers);
});

test('the data of PostgreSQL stand on a new claim, on one that is there, or in the pod', () => {
  const setOf = (storage: Values) =>
    only(charts.render('platform', { postgres: { storage } }), 'StatefulSet').spec;
  const volumeOf = (storage: Values) =>
    setOf(storage).template.spec.volumes.find(({ name }: { name: string }) => name === 'data');

  expect(setOf({ size: '5Gi', storageClass: 'fast' }).volumeClaimTemplates[0].spec).toEqual({
    accessModes: ['ReadWriteOnce'],
    storageClassName: 'fast',
    resources: { requests: { storage: '5Gi' } },
  });
  expect(volumeOf({ existingClaim: 'mine' }).persistentVolumeClaim.claimName).toBe('mine');
  expect(volumeOf({ ephemeral: true }).emptyDir).toEqual({ sizeLimit: '1Gi' });
});

test('settings of PostgreSQL are given to it as they stand, and whole numbers as such', () => {
  const settings = { max_connections: 1_000_000, log_statement: 'all' };
  const { spec } = only(charts.render('platform', { postgres: { settings } }), 'StatefulSet');

  expect(spec.template.spec.containers[0].args).toEqual([
    ...['postgres', '-c', 'log_statement=all', '-c', 'max_connections=1000000'],
  ]);
});

test('a version of the chart alone does not restart a server', () => {
  const set = only(objects, 'StatefulSet', 'fw-postgres');
  const deployment = only(objects, 'Deployment', 'fw-valkey');

  for (const { spec } of [set, deployment]) {
    expect(JSON.stringify(spec.template)).not.toContain('helm.sh/chart');
  }
});
