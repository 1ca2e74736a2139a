import { describe, expect, test } from 'vitest';
import { SERVICE_NAMES } from '../../../services/services.ts';

import { podsOf } from './platform.ts';
import { charts, only, type Rendered, SHARED, type Values } from './render.ts';

const renderUsers = (values: Values) => charts.render('users', { ...SHARED.users, ...values });
const podOf = (objects: readonly Rendered[]) => only(objects, 'Deployment').spec.template.spec;

test('extraEnv and extraVolumeMounts apply to the service and to its migrations', () => {
  const variable = { name: 'NODE_EXTRA_CA_CERTS', value: '/ca/ca.crt' };
  const mount = { name: 'ca', mountPath: '/ca' };
  const volume = { name: 'ca', configMap: { name: 'ca' } };

  const pod = podOf(
    renderUsers({
      extraEnv: [variable],
      extraVolumeMounts: [mount],
      extraVolumes: [volume],
    }),
  );

  for (const { env, volumeMounts } of [...pod.initContainers, ...pod.containers]) {
    expect(env).toContainEqual(variable);
    expect(env).toContainEqual({
      name: 'DATABASE_URL_FILE',
      value: '/run/secrets/fw/DATABASE_URL',
    });
    expect(volumeMounts).toContainEqual(mount);
  }
  expect(pod.volumes).toContainEqual(volume);
});

test('extra values need no other environment, volume or mount', () => {
  const objects = charts.render('reports', {
    jwt: { jwksUrl: 'https://keys.example.org' },
    extraEnv: [{ name: 'A', value: 'b' }],
    extraVolumes: [{ name: 'a', emptyDir: {} }],
    extraVolumeMounts: [{ name: 'a', mountPath: '/a' }],
  });
  const { containers, volumes } = podOf(objects);

  expect(containers[0].env).toEqual([{ name: 'A', value: 'b' }]);
  expect(containers[0].volumeMounts).toEqual([{ name: 'a', mountPath: '/a' }]);
  expect(volumes).toEqual([{ name: 'a', emptyDir: {} }]);
});

test('extraContainers follow the container of the service', () => {
  const sidecar = { name: 'proxy', image: 'proxy:1' };

  const { containers } = podOf(renderUsers({ extraContainers: [sidecar] }));

  expect(containers.map(({ name }: { name: string }) => name)).toEqual(['users', 'proxy']);
  expect(containers[1]).toEqual(sidecar);
});

test.each([
  ['a service with a database', 'users', ['proxy', 'migrate']],
  ['a service without one', 'reports', ['proxy']],
])('extraInitContainers precede the migration of %s', (_, chart, names) => {
  const sidecar = { name: 'proxy', image: 'proxy:1', restartPolicy: 'Always' };

  const { initContainers } = podOf(
    charts.render(chart, { ...SHARED[chart], extraInitContainers: [sidecar] }),
  );

  expect(initContainers.map(({ name }: { name: string }) => name)).toEqual(names);
  expect(initContainers[0]).toEqual(sidecar);
});

test('a value of a probe replaces one setting', () => {
  const [container] = podOf(
    renderUsers({
      startupProbe: { failureThreshold: 300 },
      readinessProbe: { httpGet: null, exec: { command: ['true'] } },
    }),
  ).containers;

  expect(container.startupProbe).toEqual({
    httpGet: { path: '/startupz', port: 'health' },
    periodSeconds: 1,
    failureThreshold: 300,
  });
  expect(container.readinessProbe).toEqual({
    exec: { command: ['true'] },
    periodSeconds: 2,
    timeoutSeconds: 2,
    failureThreshold: 2,
  });
});

describe('service', () => {
  const service = { type: 'NodePort', port: 8000, annotations: { team: 'one' } };

  test('sets type, port and annotations of the Service', () => {
    const { metadata, spec } = only(renderUsers({ service }), 'Service');

    expect(metadata.annotations).toEqual({ team: 'one' });
    expect(spec).toMatchObject({ type: 'NodePort', ports: [{ port: 8000, targetPort: 'http' }] });
  });

  test('has a port that the route, the test and the edge of the platform use', () => {
    const route = { enabled: true, parentRefs: [{ name: 'public' }] };
    const from = [{ namespaceSelector: {} }];
    const objects = renderUsers({ service, httpRoute: route, networkPolicy: { from } });
    const platform = charts.render('platform', {
      catalog: { service },
      reports: { upstreams: { catalog: 'http://fw-catalog:8000' } },
    });

    expect(only(objects, 'HTTPRoute').spec.rules[0].backendRefs[0].port).toBe(8000);
    expect(only(objects, 'Pod').spec.containers[0].env).toContainEqual({
      name: 'BASE',
      value: 'http://fw-users:8000',
    });
    expect(only(platform, 'ConfigMap', 'fw-edge').data['upstreams.conf']).toContain(
      'server fw-catalog:8000 max_fails=0;',
    );
  });
});

test('nameOverride replaces the chart name in names, not in labels', () => {
  const objects = renderUsers({ nameOverride: 'people' });
  const { metadata } = only(objects, 'Deployment');

  for (const object of objects) expect(object.metadata.name).toMatch(/^fw-people/);
  expect(metadata.labels).toMatchObject({ 'app.kubernetes.io/name': 'users' });
});

describe('podDisruptionBudget', () => {
  const budgetsOf = (objects: readonly Rendered[]) =>
    objects.filter(({ kind }) => kind === 'PodDisruptionBudget').map(({ spec }) => spec);

  test('sets how many pods a node drain may evict', () => {
    const [budget] = budgetsOf(renderUsers({ podDisruptionBudget: { maxUnavailable: '50%' } }));

    expect(budget.maxUnavailable).toBe('50%');
  });

  test('can be disabled for services and the edge', () => {
    const podDisruptionBudget = { enabled: false };
    const platform = charts.render('platform', { edge: { podDisruptionBudget } });

    expect(budgetsOf(renderUsers({ podDisruptionBudget }))).toEqual([]);
    expect(budgetsOf(platform)).toHaveLength(SERVICE_NAMES.length);
  });
});

describe('topologySpreadConstraints', () => {
  const constraint = {
    topologyKey: 'kubernetes.io/hostname',
    maxSkew: 2,
    whenUnsatisfiable: 'DoNotSchedule',
  };

  test('without a selector select the pods of the service or the edge', () => {
    const topologySpreadConstraints = [constraint];
    const [users] = podOf(renderUsers({ topologySpreadConstraints })).topologySpreadConstraints;
    const platform = charts.render('platform', { edge: { topologySpreadConstraints } });
    const edge = podsOf(platform).find(({ name }) => name === 'fw-edge');

    expect(users).toMatchObject(constraint);
    expect(users.labelSelector.matchLabels).toMatchObject({ 'app.kubernetes.io/name': 'users' });
    expect(edge?.spec.topologySpreadConstraints).toMatchObject([
      { ...constraint, labelSelector: { matchLabels: { 'app.kubernetes.io/name': 'edge' } } },
    ]);
  });

  test('keep a selector of their own, and may be absent', () => {
    const labelSelector = { matchLabels: { team: 'one' } };
    const own = podOf(
      renderUsers({ topologySpreadConstraints: [{ ...constraint, labelSelector }] }),
    );
    const none = podOf(renderUsers({ topologySpreadConstraints: [] }));

    expect(own.topologySpreadConstraints).toEqual([{ ...constraint, labelSelector }]);
    expect(none).not.toHaveProperty('topologySpreadConstraints');
  });
});

test('global.image and global.imagePullSecrets apply to every image of the platform', () => {
  const pods = podsOf(
    charts.render('platform', {
      global: {
        image: { registry: 'registry.example.org', pullPolicy: 'Always', tag: '7' },
        imagePullSecrets: [{ name: 'registry' }],
      },
      postgres: { image: { registry: 'docker.io' }, imagePullSecrets: [{ name: 'own' }] },
    }),
  );
  const containers = pods.flatMap(({ spec }) => [
    ...(spec.initContainers ?? []),
    ...spec.containers,
  ]);

  expect([...new Set(containers.map(({ image }: Rendered) => image))].sort()).toEqual([
    ...SERVICE_NAMES.map((name) => `registry.example.org/fw-${name}:7`).sort(),
    expect.stringMatching(/^registry\.example\.org\/nginxinc\/nginx-unprivileged:\d/),
    expect.stringMatching(/^registry\.example\.org\/postgres:\d/),
    expect.stringMatching(/^registry\.example\.org\/valkey\/valkey:\d/),
  ]);
  for (const { imagePullPolicy } of containers) expect(imagePullPolicy).toBe('Always');
  for (const { name, spec } of pods) {
    const own = name === 'fw-postgres' ? [{ name: 'own' }] : [];
    expect(spec.imagePullSecrets, name).toEqual([{ name: 'registry' }, ...own]);
  }
});
