import { beforeAll, describe, expect, test } from 'vitest';

import { SERVICE_NAMES, SERVICES } from '../../../services/services.ts';
import { charts, only, type Rendered, SHARED, type Values } from './render.ts';

const ADDRESS = 'http://prometheus.monitoring:9090';
const PROGRESSIVE: Values = {
  progressiveDelivery: { enabled: true, prometheus: { address: ADDRESS } },
};

const renderUsers = (values: Values = {}) =>
  charts.render('users', { ...SHARED.users, ...PROGRESSIVE, ...values });

describe.each(SERVICE_NAMES)('the Rollout of %s', (name) => {
  let plain: Rendered[];
  let objects: Rendered[];
  beforeAll(() => {
    plain = charts.render(name, SHARED[name]);
    objects = charts.render(name, { ...SHARED[name], ...PROGRESSIVE });
  });

  test('replaces the Deployment and the ConfigMap, and has the same pods', () => {
    const withoutEnvironment = (pod: { containers: object[]; initContainers?: object[] }) => ({
      ...pod,
      containers: pod.containers.map((one) => ({ ...one, env: [], envFrom: [] })),
      initContainers: pod.initContainers?.map((one) => ({ ...one, env: [], envFrom: [] })),
    });
    const { spec } = only(objects, 'Rollout');
    const deployment = only(plain, 'Deployment');

    expect(objects.filter(({ kind }) => ['Deployment', 'ConfigMap'].includes(kind))).toEqual([]);
    expect(spec.selector).toEqual(deployment.spec.selector);
    expect(spec.template.metadata).toEqual(deployment.spec.template.metadata);
    expect(withoutEnvironment(spec.template.spec)).toEqual(
      withoutEnvironment(deployment.spec.template.spec),
    );
  });

  test('has the environment in its pods, so that rolling back restores it', () => {
    const [container] = only(objects, 'Rollout').spec.template.spec.containers;
    const { data } = only(plain, 'ConfigMap');

    expect(container.envFrom).toBeUndefined();
    expect(container.env).toEqual(
      expect.arrayContaining(Object.entries(data).map(([key, value]) => ({ name: key, value }))),
    );
  });

  test('measures every objective with Prometheus, for the pods of one version', () => {
    const { metrics } = only(objects, 'AnalysisTemplate', `fw-${name}-objectives`).spec;

    expect(metrics.map(({ name: metric }: { name: string }) => metric)).toEqual(
      expect.arrayContaining(['has-metrics', 'error', 'restarts', 'memory']),
    );
    for (const { provider } of metrics) {
      expect(provider.prometheus.address).toBe(ADDRESS);
      expect(provider.prometheus.query).toContain(
        `{namespace="trial",pod=~"fw-${name}-{{args.pods}}-.*"`,
      );
    }
  });
});

test('the controller of Argo Rollouts owns the selectors of both Services', () => {
  const services = renderUsers().filter(({ kind }) => kind === 'Service');

  expect(services.map(({ metadata }) => metadata.name)).toEqual(['fw-users', 'fw-users-preview']);
  for (const { spec } of services) expect(spec).not.toHaveProperty('selector');
  expect(only(renderUsers(), 'Rollout').spec.strategy.blueGreen).toMatchObject({
    activeService: 'fw-users',
    previewService: 'fw-users-preview',
  });
});

test('the trial runs the program of helm test against the preview Service', () => {
  const objects = renderUsers();
  const { metrics } = only(objects, 'AnalysisTemplate', 'fw-users-trial').spec;
  const { template } = metrics[0].provider.job.spec;
  const pod = only(objects, 'Pod', 'fw-users-test');

  expect(template.metadata.labels).toEqual(pod.metadata.labels);
  expect(template.spec.containers[0].command).toEqual(pod.spec.containers[0].command);
  expect(template.spec.containers[0].env).toEqual([
    { name: 'BASE', value: 'http://fw-users-preview:80' },
    { name: 'TRIAL_SECONDS', value: '25' },
  ]);
});

test('the number of measurements follows the durations', () => {
  const measurements = (values: Values) => {
    const delivery = { ...Object(PROGRESSIVE.progressiveDelivery), ...values };
    const objects = renderUsers({ progressiveDelivery: delivery });
    return ['objectives', 'observation'].map((template) => {
      const { metrics } = only(objects, 'AnalysisTemplate', `fw-users-${template}`).spec;
      return metrics.find(({ name }: { name: string }) => name === 'error').count;
    });
  };

  expect(measurements({})).toEqual([7, 9]);
  const longer = { trialSeconds: 35, observationSeconds: 300, progressDeadlineSeconds: 310 };
  expect(measurements(longer)).toEqual([9, 61]);
});

test('the memory of a version may grow by a quarter of its limit', () => {
  const objects = renderUsers({ resources: { limits: { memory: '512Mi' } } });
  const { metrics } = only(objects, 'AnalysisTemplate', 'fw-users-objectives').spec;
  const memory = metrics.find(({ name }: { name: string }) => name === 'memory');

  expect(memory.provider.prometheus.query).toMatch(new RegExp(`> ${128 * 1024 ** 2}$`));
});

test('no old ReplicaSet is kept, because the controller would then ignore the deadline', () => {
  expect(only(renderUsers(), 'Rollout').spec).toMatchObject({
    ...{ revisionHistoryLimit: 0, progressDeadlineSeconds: 120, progressDeadlineAbort: true },
  });
});

test('the autoscaler scales the Rollout', () => {
  const { spec } = only(renderUsers({ autoscaling: { enabled: true } }), 'HorizontalPodAutoscaler');

  expect(spec.scaleTargetRef).toEqual({
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'Rollout',
    name: 'fw-users',
  });
});

test.each(SERVICES)('two versions of $name need a store that pods share', ({ name }) => {
  const own = name === 'reports' ? { jwt: SHARED.reports?.jwt } : {};

  expect(() => charts.render(name, { ...own, ...PROGRESSIVE })).toThrow(
    `${name}: progressiveDelivery.enabled is true, but `,
  );
});

test('the metrics must be read every 5 s', () => {
  const values = { metrics: { serviceMonitor: { enabled: true } } };

  expect(() => renderUsers(values)).toThrow(
    'users: progressiveDelivery.enabled is true, but metrics.serviceMonitor.interval is "30s", so that the first measurement would find no metrics: expected 5s',
  );
});

test.each([
  [
    { enabled: true },
    'users: progressiveDelivery.enabled is true, but progressiveDelivery.prometheus.address is empty, so that no objective could be measured: expected a form such as http://prometheus-operated.monitoring:9090',
  ],
  [
    { enabled: true, prometheus: { address: ADDRESS }, trialSeconds: 110 },
    'users: progressiveDelivery.progressDeadlineSeconds is 120, too early for a version that works: expected 130 or more, the largest of trialSeconds + 20, observationSeconds + 10, and 30 s more than the 60 s for which a migration waits for its database',
  ],
  [
    { enabled: true, prometheus: { address: ADDRESS }, observationSeconds: 300 },
    'users: progressiveDelivery.progressDeadlineSeconds is 120, too early for a version that works: expected 310 or more, ',
  ],
  [
    { enabled: true, prometheus: { address: ADDRESS }, progressDeadlineSeconds: 89 },
    'users: progressiveDelivery.progressDeadlineSeconds is 89, too early for a version that works: expected 90 or more, ',
  ],
])('%j is rejected', (progressiveDelivery, message) => {
  expect(() => charts.render('users', { ...SHARED.users, progressiveDelivery })).toThrow(message);
});

test('the deadline of a service without a database is not that of a migration', () => {
  const deadlineOf = (progressDeadlineSeconds: number) => {
    const progressiveDelivery = { enabled: true, prometheus: { address: ADDRESS } };
    const values = { progressiveDelivery: { ...progressiveDelivery, progressDeadlineSeconds } };
    return only(charts.render('reports', { ...SHARED.reports, ...values }), 'Rollout').spec;
  };

  expect(deadlineOf(50)).toMatchObject({ progressDeadlineSeconds: 50 });
  expect(() => deadlineOf(49)).toThrow(
    'expected 50 or more, the larger of trialSeconds + 20 and observationSeconds + 10',
  );
});
