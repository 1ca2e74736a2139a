import { beforeAll, describe, expect, test } from 'vitest';

import { SERVICE_NAMES } from '../../../services/services.ts';
import { charts, EVERYTHING, NEEDED, only, type Rendered, SHARED, type Values } from './render.ts';

/** Values with which the tests render each chart. */
const MATRIX: Readonly<Record<string, (chart: string) => Values>> = {
  defaults: (chart) => NEEDED[chart] ?? {},
  'shared stores': (chart) => SHARED[chart] ?? {},
  'all features': (chart) => ({ ...SHARED[chart], ...EVERYTHING }),
  'a name and a digest': (chart) => ({
    ...NEEDED[chart],
    fullnameOverride: 'other',
    image: { registry: 'registry.example.org', digest: `sha256:${'0'.repeat(64)}` },
    serviceAccount: { create: false },
  }),
  'ingress-nginx': (chart) => ({
    ...SHARED[chart],
    ingress: { enabled: true, hosts: [{ host: 'api.example.org' }], controller: 'ingress-nginx' },
  }),
  'no NetworkPolicy': (chart) => ({ ...SHARED[chart], networkPolicy: { enabled: false } }),
};

const CASES = SERVICE_NAMES.flatMap((chart) =>
  Object.entries(MATRIX).map(([name, values]) => ({ chart, name, values: values(chart) })),
);

const podsOf = (objects: readonly Rendered[]) => [
  only(objects, 'Deployment').spec.template,
  only(objects, 'Pod'),
];

describe.each(CASES)('$chart, $name', ({ chart, values }) => {
  let objects: Rendered[];
  let deployment: Rendered;
  let pod: Rendered;
  let container: Rendered;
  beforeAll(() => {
    objects = charts.render(chart, values);
    deployment = only(objects, 'Deployment');
    pod = deployment.spec.template.spec;
    [container] = pod.containers;
  });

  test('object names are unique per kind, and labels are the recommended ones', () => {
    const names = objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);

    expect(new Set(names).size).toBe(names.length);
    for (const { metadata } of objects) {
      expect(metadata).not.toHaveProperty('namespace');
      expect(metadata.labels).toMatchObject({
        'app.kubernetes.io/name': chart,
        'app.kubernetes.io/instance': 'fw',
      });
    }
  });

  test('the service runs the entrypoint of its image, and helm test has the permission model of Node', () => {
    expect(container).not.toHaveProperty('command');
    expect(container).not.toHaveProperty('args');
    expect((pod.initContainers ?? []).map(({ args }: Rendered) => args)).toEqual(
      chart === 'reports' ? [] : [['migrate', '--wait', '60']],
    );
    expect(only(objects, 'Pod').spec.containers[0].command.slice(0, 2)).toEqual([
      'node',
      '--permission',
    ]);
  });

  test('every pod meets Pod Security "restricted" and has no token', () => {
    for (const { spec } of podsOf(objects)) {
      expect(spec).toMatchObject({
        automountServiceAccountToken: false,
        enableServiceLinks: false,
        securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      });
      // OpenShift rejects pods with a fixed user id.
      expect(spec.securityContext).not.toHaveProperty('runAsUser');
      for (const one of [...(spec.initContainers ?? []), ...spec.containers]) {
        expect(one.securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
        expect(one.resources.limits).toHaveProperty('memory');
        expect(one.resources.limits).not.toHaveProperty('cpu');
        expect(one.image).toBe(container.image);
      }
    }
  });

  test('each probe has its own path on the health port', () => {
    const pathOf = (probe: Rendered) => [probe.httpGet.path, probe.httpGet.port];

    expect(pathOf(container.startupProbe)).toEqual(['/startupz', 'health']);
    expect(pathOf(container.livenessProbe)).toEqual(['/livez', 'health']);
    expect(pathOf(container.readinessProbe)).toEqual(['/readyz', 'health']);
    expect(container.ports).toEqual([
      { name: 'http', containerPort: 8080 },
      { name: 'health', containerPort: 9090 },
    ]);
  });

  test('selectors match the pods of the service and contain no version', () => {
    const { labels } = deployment.spec.template.metadata;
    const selectors = [
      deployment.spec.selector.matchLabels,
      only(objects, 'Service', deployment.metadata.name).spec.selector,
      ...pod.topologySpreadConstraints.map((one: Rendered) => one.labelSelector.matchLabels),
      ...objects
        .filter(({ kind }) => kind === 'PodDisruptionBudget')
        .map(({ spec }) => spec.selector.matchLabels),
      ...objects
        .filter(({ kind, metadata }) => kind === 'NetworkPolicy' && !/-test$/.test(metadata.name))
        .map(({ spec }) => spec.podSelector.matchLabels),
    ];

    for (const selector of selectors) {
      expect(labels).toMatchObject(selector);
      expect(Object.keys(selector).sort()).toEqual([
        'app.kubernetes.io/component',
        'app.kubernetes.io/instance',
        'app.kubernetes.io/name',
      ]);
    }
    expect(only(objects, 'Pod').metadata.labels).not.toMatchObject(selectors[0]);
  });

  test('every object that a pod refers to is rendered', () => {
    const named = (kind: string) =>
      objects.filter((object) => object.kind === kind).map(({ metadata }) => metadata.name);

    for (const { spec } of podsOf(objects)) {
      for (const volume of spec.volumes ?? []) {
        if (volume.persistentVolumeClaim) {
          expect(named('PersistentVolumeClaim')).toContain(volume.persistentVolumeClaim.claimName);
        }
        for (const { secret } of volume.projected?.sources ?? []) {
          expect(named('Secret')).toContain(secret.name);
          const { stringData } = only(objects, 'Secret', secret.name);
          for (const { key } of secret.items) expect(stringData).toHaveProperty(key);
        }
      }
      for (const one of [...(spec.initContainers ?? []), ...spec.containers]) {
        for (const { configMapRef } of one.envFrom ?? []) {
          expect(named('ConfigMap')).toContain(configMapRef.name);
        }
        const volumes = (spec.volumes ?? []).map(({ name }: { name: string }) => name);
        for (const { name } of one.volumeMounts ?? []) expect(volumes).toContain(name);
      }
    }
  });

  test('a rollout keeps the number of ready pods, unless the pods share a volume', () => {
    const hasVolume = objects.some(({ kind }) => kind === 'PersistentVolumeClaim');

    expect(deployment.spec.strategy).toEqual(
      hasVolume
        ? { type: 'Recreate' }
        : { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
    );
  });

  test('a pod has the grace period that its drain needs', () => {
    const { data } = only(objects, 'ConfigMap', deployment.metadata.name);
    const preStopSeconds = container.lifecycle.preStop.sleep.seconds;

    expect(Number(data.DRAIN_TIMEOUT_MS)).toBeGreaterThan(
      Number(data.DRAIN_DELAY_MS) + 5_000 + Number(data.REQUEST_TIMEOUT_MS),
    );
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(
      preStopSeconds + Number(data.DRAIN_TIMEOUT_MS) / 1_000,
    );
  });

  test('a disruption budget exists if there can be several pods', () => {
    const autoscaler = objects.find(({ kind }) => kind === 'HorizontalPodAutoscaler');
    const most = autoscaler?.spec.maxReplicas ?? deployment.spec.replicas;
    const budgets = objects.filter(({ kind }) => kind === 'PodDisruptionBudget');

    expect(budgets).toHaveLength(most >= 2 ? 1 : 0);
    for (const { spec } of budgets) {
      expect(spec.maxUnavailable).toBe(1);
      expect(spec).not.toHaveProperty('minAvailable');
    }
    // A fixed number would undo that of the autoscaler.
    expect(deployment.spec.replicas === undefined).toBe(autoscaler !== undefined);
  });
});
