import { beforeAll, describe, expect, test } from 'vitest';

import { SERVICE_NAMES } from '../../../services/services.ts';
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
import { EVERYTHING, GATEWAY, merge, PROGRESSIVE, SETS, SHARED } from './values.ts';

const OURS: readonly string[] = SERVICE_NAMES;
const CASES = SETS.filter(({ chart }) => OURS.includes(chart));

/** Renders a service with two pods and `values`. */
const render = (chart: string, ...values: Values[]) =>
  charts.render(chart, merge(SHARED[chart], ...values));

describe.each(CASES)('$chart, $name', ({ chart, name, values }) => {
  const isRollout = name === 'a Rollout';
  let objects: Rendered[];
  let workload: Rendered;
  let pod: Rendered['spec'];
  beforeAll(() => {
    objects = charts.render(chart, values);
    workload = only(objects, isRollout ? 'Rollout' : 'Deployment');
    pod = workload.spec.template.spec;
  });

  test('the service runs the entrypoint of its image after its migration, with probes and limits', () => {
    const [container] = pod.containers;

    expect(container).not.toHaveProperty('command');
    expect((pod.initContainers ?? []).map(({ args }: Rendered) => args)).toEqual(
      chart === 'reports' ? [] : [['migrate', '--wait', '60']],
    );
    expect(container).toMatchObject({
      image: `fw-${chart}:0.1.0`,
      startupProbe: { httpGet: { path: '/startupz', port: 'health' }, failureThreshold: 300 },
      livenessProbe: { httpGet: { path: '/livez', port: 'health' }, periodSeconds: 10 },
      readinessProbe: { httpGet: { path: '/readyz', port: 'health' }, periodSeconds: 2 },
      resources: { limits: { memory: '256Mi', 'ephemeral-storage': '1Gi' } },
    });
    expect(pod).toMatchObject({ automountServiceAccountToken: false, enableServiceLinks: false });
  });

  test('an upgrade keeps the number of ready pods, and a node drain evicts one pod at a time', () => {
    const { strategy, replicas, revisionHistoryLimit } = workload.spec;
    const hasVolume = namesOf(objects, 'PersistentVolumeClaim').length > 0;
    const budgets = all(objects, 'PodDisruptionBudget');

    if (isRollout) {
      const [activeService, previewService] = [`fw-${chart}`, `fw-${chart}-preview`];
      expect(strategy.blueGreen).toMatchObject({ activeService, previewService });
      // The controller would ignore the deadline while there is an old ReplicaSet.
      expect(revisionHistoryLimit).toBe(0);
      // Otherwise the first measurement would find no metrics.
      expect(only(objects, 'ServiceMonitor').spec.endpoints[0].interval).toBe('5s');
    } else {
      const rolling = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } };
      expect(strategy).toEqual(hasVolume ? { type: 'Recreate' } : rolling);
    }
    // A fixed number would undo that of the autoscaler, and the budget of one pod would block the drain.
    const isScaled = namesOf(objects, 'HorizontalPodAutoscaler').length > 0;
    expect(replicas).toBe(isScaled ? undefined : name === 'defaults' ? 1 : 2);
    expect(budgets.map(({ spec }) => spec.maxUnavailable)).toEqual(name === 'defaults' ? [] : [1]);
  });
});

describe('the NetworkPolicy', () => {
  const dns = { port: 53, protocol: 'UDP' };
  const policyOf = (chart: string, values: Values, name = `fw-${chart}`) =>
    only(render(chart, values), 'NetworkPolicy', name).spec;

  test('allows names, the services in calls by their labels, and the connections in egress', () => {
    const jwks = { to: [{ ipBlock: { cidr: '0.0.0.0/0' } }], ports: [443, 8443] };
    const { egress } = policyOf('reports', { networkPolicy: { egress: { jwks } } });
    const [names, users, catalog, ...others] = egress;

    expect(names.ports).toContainEqual(dns);
    expect([users, catalog]).toEqual(
      ['users', 'catalog'].map((name) => ({
        to: [{ podSelector: { matchLabels: { 'app.kubernetes.io/name': name } } }],
        ports: [{ port: 'http' }],
      })),
    );
    expect(others).toEqual([
      { to: [{ ipBlock: { cidr: '10.1.2.3/32' } }], ports: [{ port: 6380 }] },
      { to: jwks.to, ports: [{ port: 443 }, { port: 8443 }] },
    ]);
  });

  test('allows the pods of callers and of the test by their label, the peers in the values, and monitoring', () => {
    const values = { labelDomain: 'example.org', networkPolicy: { from: [GATEWAY] } };
    const { ingress } = policyOf('users', values);
    const label = { 'example.org/calls-users': 'true' };
    const monitoring = { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } };
    const { metadata } = only(render('reports', values), 'Deployment').spec.template;

    expect(ingress).toEqual([
      { ports: [{ port: 8080 }], from: [{ podSelector: { matchLabels: label } }, GATEWAY] },
      { ports: [{ port: 9090 }], from: [{ namespaceSelector: monitoring }] },
    ]);
    expect(metadata.labels).toMatchObject(label);
    expect(only(render('users', values), 'Pod').metadata.labels).toMatchObject(label);
  });

  test('the test of a release may reach only the service', () => {
    const { ingress, egress, policyTypes } = policyOf('users', {}, 'fw-users-test');
    const [names, users, ...others] = egress;

    expect([policyTypes, ingress, others]).toEqual([['Ingress', 'Egress'], undefined, []]);
    expect(names.ports).toContainEqual(dns);
    expect(users.to[0].podSelector.matchLabels['app.kubernetes.io/name']).toBe('users');
  });
});

test('SQLite is one pod with a volume that outlives the release', () => {
  const objects = charts.render('catalog');
  const { metadata } = only(objects, 'PersistentVolumeClaim');
  const { securityContext, containers } = podOf(objects, 'fw-catalog');

  expect(metadata.annotations).toEqual({ 'helm.sh/resource-policy': 'keep' });
  expect(securityContext.fsGroup).toBe(65_532);
  expect(containers[0].volumeMounts).toEqual([{ name: 'data', mountPath: '/data' }]);
});

test('secrets are files, from values or existing Secrets, and not in any other object', () => {
  const objects = render('users');
  const DATABASE_URL = { existingSecret: '{{ .Release.Name }}-db', key: 'uri', value: '' };
  const secrets = { DATABASE_URL, 'postgres-ca.crt': { existingSecret: 'ca' } };
  const existing = podOf(render('users', { secrets }), 'fw-users');
  const { containers, initContainers } = podOf(objects, 'fw-users');

  for (const container of [...initContainers, ...containers, ...existing.containers]) {
    const files = Object.entries(variablesOf(container)).filter(([name]) => name.endsWith('_FILE'));
    expect(files).toEqual([['DATABASE_URL_FILE', '/run/secrets/app/DATABASE_URL']]);
    expect(container.volumeMounts[0]).toMatchObject({
      ...{ mountPath: '/run/secrets/app', readOnly: true },
    });
  }
  expect(JSON.stringify(objects.filter(({ kind }) => kind !== 'Secret'))).not.toContain('u:p@db');
  expect(existing.volumes[0].projected.sources).toEqual([
    { secret: { name: 'fw-db', items: [{ key: 'uri', path: 'DATABASE_URL' }] } },
    { secret: { name: 'ca', items: [{ key: 'ca.crt', path: 'postgres-ca.crt' }] } },
  ]);
});

test('an Ingress has the paths of the service, or those of its host', () => {
  const hosts = [
    { host: 'a.example.org' },
    { host: 'b.example.org', paths: [{ path: '/' }, { path: '/exact', pathType: 'Exact' }] },
  ];
  const annotations = { 'nginx.org/client-max-body-size': '2m' };
  const ingress = { enabled: true, className: 'public', annotations, hosts };
  const values = { ingress, paths: ['/{{ .Release.Name }}'], networkPolicy: { from: [GATEWAY] } };
  const { metadata, spec } = only(render('users', values), 'Ingress');
  const backend = { service: { name: 'fw-users', port: { name: 'http' } } };

  expect([metadata.annotations, spec.ingressClassName]).toEqual([annotations, 'public']);
  expect(spec.rules).toEqual([
    { host: 'a.example.org', http: { paths: [{ path: '/fw', pathType: 'Prefix', backend }] } },
    {
      host: 'b.example.org',
      http: {
        paths: [
          { path: '/', pathType: 'Prefix', backend },
          { path: '/exact', pathType: 'Exact', backend },
        ],
      },
    },
  ]);
});

test('a Rollout measures every objective of one version', () => {
  const objects = render('users', PROGRESSIVE);
  const measurementsOf = (name: string): Rendered[] =>
    only(objects, 'AnalysisTemplate', `fw-users-${name}`).spec.metrics;
  const countIn = (name: string) =>
    measurementsOf(name).find((one) => one.name === 'memory')?.count;
  const queries = Object.fromEntries(
    measurementsOf('objectives').map(({ name, provider }) => [name, provider.prometheus.query]),
  );

  expect(Object.keys(queries).sort()).toEqual([
    ...['error', 'has-metrics', 'latency-read-0-95', 'latency-read-0-99'],
    ...['latency-write-0-95', 'latency-write-0-99', 'memory', 'restarts'],
  ]);
  for (const query of Object.values(queries)) {
    expect(query).toContain('pod=~"fw-users-{{args.pods}}-.*"');
  }
  expect(queries.memory).toMatch(/> 67108864$/);
  // One every 5 s: 25 and 40 s by default, and 5 s for the start of the trial.
  expect([countIn('objectives'), countIn('observation')]).toEqual([7, 9]);
});

/** The steps of a canary, each as its kind with its weight or its analyses. */
function describeSteps(steps: readonly Rendered[]): string[] {
  return steps.map(({ setWeight, setCanaryScale, analysis }) => {
    if (setWeight !== undefined) return `share ${setWeight}`;
    if (setCanaryScale) return `pods ${setCanaryScale.weight}`;
    const names = analysis.templates.map((one: Rendered) => one.templateName.slice(9));
    return `analysis ${names.join(' ')}`;
  });
}

test('a canary has a trial without users, then a share of the requests in the HTTPRoute at each step', () => {
  const plugin = {
    httpRoute: '{{ include "common.name" . }}',
    namespace: '{{ .Release.Namespace }}',
  };
  const trafficRouting = { plugins: { 'argoproj-labs/gatewayAPI': plugin } };
  const delivery = { strategy: 'canary', canary: { trafficRouting } };
  const objects = render('users', EVERYTHING, PROGRESSIVE, { progressiveDelivery: delivery });
  const { canary } = only(objects, 'Rollout').spec.strategy;
  const services = ['fw-users', 'fw-users-preview'];

  expect(describeSteps(canary.steps)).toEqual([
    ...['pods 10', 'analysis trial objectives', 'share 10', 'analysis observation'],
    ...['pods 25', 'share 25', 'analysis observation'],
    ...['pods 50', 'share 50', 'analysis observation'],
  ]);
  expect([canary.stableService, canary.canaryService]).toEqual(services);
  expect(canary.trafficRouting.plugins).toEqual({
    'argoproj-labs/gatewayAPI': { httpRoute: 'fw-users', namespace: 'trial' },
  });
  expect(only(objects, 'HTTPRoute').spec.rules[0].backendRefs).toEqual([
    { name: 'fw-users', port: 80, weight: 100 },
    { name: 'fw-users-preview', port: 80, weight: 0 },
  ]);
  // Argo Rollouts sets the selectors.
  for (const name of services) expect(only(objects, 'Service', name).spec.selector).toBeUndefined();
});
