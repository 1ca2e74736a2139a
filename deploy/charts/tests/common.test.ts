import { beforeAll, describe, expect, test } from 'vitest';

import {
  all,
  charts,
  namesOf,
  only,
  podOf,
  type Rendered,
  type Values,
  variablesOf,
} from './render.ts';
import { EVERYTHING, merge, PROGRESSIVE, SHARED, SHOP } from './values.ts';

describe('the chart common installs a service of another project', () => {
  let objects: Rendered[];
  let pod: Rendered['spec'];
  beforeAll(() => {
    objects = charts.render('common', SHOP, { release: 'shop' });
    pod = podOf(objects, 'shop');
  });

  test('with its name in every object and label', () => {
    for (const { metadata } of objects) {
      expect(metadata.name).toMatch(/^shop(-|$)/);
      expect(metadata.labels).toMatchObject({ 'app.kubernetes.io/name': 'shop' });
    }
    expect(new Set(objects.map(({ kind }) => kind))).toEqual(
      new Set([
        ...['ConfigMap', 'Deployment', 'Ingress', 'NetworkPolicy', 'Pod', 'PodDisruptionBudget'],
        ...['PrometheusRule', 'Service', 'ServiceMonitor'],
      ]),
    );
  });

  test('with its image, and no secrets, migration and variables but its own and the attributes of its pod', () => {
    const values = {
      config: { PUBLIC_URL: 'https://shop.example.org', POOL_SIZE: 10 },
      secrets: { DATABASE_URL: { existingSecret: 'database', key: 'url' } },
      migration: { args: ['migrate.js'] },
    };
    const full = podOf(charts.render('common', merge(SHOP, values)), 'fw-shop');

    expect(pod.containers[0].image).toBe('shop:1.0.0');
    expect([variablesOf(pod.containers[0]), pod.initContainers, pod.volumes]).toEqual([
      { OTEL_RESOURCE_ATTRIBUTES: expect.stringContaining('k8s.pod.name=$(POD_NAME)') },
      undefined,
      undefined,
    ]);
    expect(full.initContainers[0].args).toEqual(['migrate.js']);
    for (const container of [...full.initContainers, ...full.containers]) {
      expect(variablesOf(container)).toEqual({
        ...{ PUBLIC_URL: 'https://shop.example.org', POOL_SIZE: '10' },
        OTEL_RESOURCE_ATTRIBUTES: expect.anything(),
        DATABASE_URL_FILE: '/run/secrets/app/DATABASE_URL',
      });
    }
  });

  test('with the name of the release, if it has no other', () => {
    const { metadata, spec } = only(
      charts.render('common', merge(SHOP, { nameOverride: '' }), { release: 'orders' }),
      'Deployment',
    );

    expect([metadata.name, spec.selector.matchLabels['app.kubernetes.io/name']]).toEqual([
      ...['orders', 'orders'],
    ]);
  });

  test.each<[string, Values]>([
    ['image.repository is empty', { image: { repository: '' } }],
    ['image.tag and image.digest are empty', { image: { tag: '' } }],
    [
      'containerPorts.http and containerPorts.health are both 3000',
      { containerPorts: { http: 3000, health: 3000 } },
    ],
  ])('only with an image and two ports: %s', (message, values) => {
    expect(() => charts.render('common', merge(SHOP, values))).toThrow(message);
  });

  test('with a digest instead of a tag', () => {
    const digest = `sha256:${'a'.repeat(64)}`;
    const [container] = podOf(
      charts.render('common', merge(SHOP, { image: { tag: '', digest } })),
      'fw-shop',
    ).containers;

    expect(container.image).toBe(`shop@${digest}`);
  });

  test('with command, args and ports as the image needs them', () => {
    const values = {
      ...{ command: ['/bin/{{ .Release.Name }}'], args: ['serve'] },
      containerPorts: { http: 3000, health: 3001 },
    };
    const [container] = podOf(charts.render('common', merge(SHOP, values)), 'fw-shop').containers;

    expect(container).toMatchObject({ command: ['/bin/fw'], args: ['serve'] });
    expect(container.ports.map(({ containerPort }: Rendered) => containerPort)).toEqual([
      ...[3000, 3001],
    ]);
  });
});

test('commonLabels and commonAnnotations are on every object and every pod', () => {
  const [labels, annotations] = [{ team: 'a' }, { 'example.org/owner': 'b' }];
  const both = { commonLabels: labels, commonAnnotations: annotations };
  const values = merge(EVERYTHING, both);
  const platform = charts.render('platform', { global: both });
  const objects = [
    ...platform.filter(({ metadata }) => !/-(postgres|valkey|tokens)$/.test(metadata.name)),
    ...charts.render('catalog', both),
    ...charts.render('users', merge(SHARED.users, values)),
    ...charts.render('users', merge(SHARED.users, values, PROGRESSIVE)),
  ];

  for (const { kind, metadata, spec } of objects) {
    expect(metadata, kind).toMatchObject({ labels, annotations });
    if (spec?.template) expect(spec.template.metadata).toMatchObject({ labels, annotations });
  }
  // Otherwise a later version could not change them.
  for (const { spec } of [...all(objects, 'Deployment'), ...all(objects, 'Rollout')]) {
    expect(spec.selector.matchLabels).not.toHaveProperty('team');
  }
});

test.each([
  ['fw', {}, 'fw-users'],
  ['my-users', {}, 'my-users'],
  ['fw', { nameOverride: 'people' }, 'fw-people'],
  ['fw', { fullnameOverride: 'people' }, 'people'],
  ['a'.repeat(53), {}, 'a'.repeat(52)],
])('release %s with %j has objects called %s', (release, values, name) => {
  expect(namesOf(charts.render('users', values, { release }), 'Deployment')).toEqual([name]);
});

const OWN = { matchLabels: { team: 'a' } };

test('updateStrategy, envFrom, sidecars, spread constraints and extraObjects reach the objects', () => {
  const objects = charts.render('users', {
    ...SHARED.users,
    updateStrategy: { rollingUpdate: { maxSurge: 3 } },
    minReadySeconds: 7,
    extraEnv: [{ name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } }],
    envFrom: [{ secretRef: { name: 'keys' } }],
    extraInitContainers: [{ name: 'proxy', restartPolicy: 'Always' }],
    extraContainers: [{ name: 'shipper' }],
    extraVolumes: [{ name: 'files', configMap: { name: '{{ .Release.Name }}-files' } }],
    extraVolumeMounts: [{ name: 'files', mountPath: '/files' }],
    topologySpreadConstraints: [{ topologyKey: 'zone' }, { labelSelector: OWN }],
    extraObjects: [
      { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: '{{ .Release.Name }}-map' } },
      'kind: Role\napiVersion: rbac.authorization.k8s.io/v1\nmetadata: { name: {{ .Chart.Name }} }',
    ],
  });
  const { spec } = only(objects, 'Deployment');
  const { containers, initContainers, volumes, topologySpreadConstraints } = spec.template.spec;
  const [sidecar, migration] = initContainers;
  const [service, shipper] = containers;

  expect(spec).toMatchObject({
    minReadySeconds: 7,
    strategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: 3 } },
  });
  // The migration uses a proxy of the database too.
  expect([sidecar.restartPolicy, migration.args[0], shipper.name]).toEqual([
    ...['Always', 'migrate', 'shipper'],
  ]);
  for (const { env, envFrom, volumeMounts } of [service, migration]) {
    expect(env.at(-1).name).toBe('NODE');
    expect(envFrom).toEqual([{ secretRef: { name: 'keys' } }]);
    expect(volumeMounts.at(-1)).toEqual({ name: 'files', mountPath: '/files' });
  }
  const [test] = only(objects, 'Pod', 'fw-users-test').spec.containers;
  expect(test.env.map(({ name }: Rendered) => name)).not.toContain('NODE');
  expect(volumes.at(-1)).toEqual({ name: 'files', configMap: { name: 'fw-files' } });
  expect(topologySpreadConstraints.map(({ labelSelector }: Rendered) => labelSelector)).toEqual([
    ...[spec.selector, OWN],
  ]);
  expect(only(objects, 'ConfigMap', 'fw-map')).toBeDefined();
  expect(only(objects, 'Role', 'users')).toBeDefined();
});
