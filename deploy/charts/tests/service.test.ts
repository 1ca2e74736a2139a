import { beforeAll, describe, expect, test } from 'vitest';

import { SERVICE_NAMES, SERVICES } from '../../../services/services.ts';
import {
  charts,
  EVERYTHING,
  NEEDED,
  namesOf,
  only,
  PROGRESSIVE,
  podOf,
  type Rendered,
  SHARED,
  selected,
  type Values,
} from './render.ts';

/** Complete values of each chart. */
const MATRIX: Readonly<Record<string, (chart: string) => Values>> = {
  defaults: (chart) => NEEDED[chart] ?? {},
  'all features': (chart) => ({ ...SHARED[chart], ...EVERYTHING }),
  'a Rollout': (chart) => ({ ...SHARED[chart], ...EVERYTHING, ...PROGRESSIVE }),
};
const CASES = SERVICE_NAMES.flatMap((chart) =>
  Object.entries(MATRIX).map(([name, values]) => ({ chart, name, values: values(chart) })),
);

describe.each(CASES)('$chart, $name', ({ chart, name, values }) => {
  const isRollout = name === 'a Rollout';
  let objects: Rendered[];
  let workload: Rendered;
  let pod: Rendered['spec'];
  let container: Rendered;
  let variables: Record<string, string>;
  beforeAll(() => {
    objects = charts.render(chart, values);
    workload = only(objects, isRollout ? 'Rollout' : 'Deployment');
    pod = workload.spec.template.spec;
    [container] = pod.containers;
    variables = isRollout
      ? Object.fromEntries(container.env.map((one: Rendered) => [one.name, one.value]))
      : only(objects, 'ConfigMap', `fw-${chart}`).data;
  });

  test('the service runs the entrypoint of its image, after its migration, with probes', () => {
    const migrates = SERVICES.some((one) => one.name === chart && one.store === 'database');

    expect(container).not.toHaveProperty('command');
    expect((pod.initContainers ?? []).map(({ args }: Rendered) => args)).toEqual(
      migrates ? [['migrate', '--wait', '60']] : [],
    );
    expect(container).toMatchObject({
      image: `fw-${chart}:0.1.0`,
      startupProbe: { httpGet: { path: '/startupz', port: 'health' }, failureThreshold: 300 },
      livenessProbe: { httpGet: { path: '/livez', port: 'health' }, periodSeconds: 10 },
      readinessProbe: { httpGet: { path: '/readyz', port: 'health' }, periodSeconds: 2 },
      resources: { limits: { memory: '256Mi', 'ephemeral-storage': '1Gi' } },
    });
  });

  test('the selector, which no upgrade can change, contains no version', () => {
    const matchLabels = {
      'app.kubernetes.io/name': chart,
      'app.kubernetes.io/instance': 'fw',
      'app.kubernetes.io/component': 'server',
    };

    expect(workload.spec.selector).toEqual({ matchLabels });
    for (const { labelSelector } of pod.topologySpreadConstraints) {
      expect(labelSelector).toEqual({ matchLabels });
    }
  });

  test('a pod ends no earlier than its longest request', () => {
    const { DRAIN_TIMEOUT_MS, DRAIN_DELAY_MS, DRAIN_IDLE_MS, REQUEST_TIMEOUT_MS } = variables;

    // Drain delay, 5 s for idle connections, the longest request, 2 s to close.
    expect(Number(DRAIN_TIMEOUT_MS)).toBe(
      Number(DRAIN_DELAY_MS) + Number(DRAIN_IDLE_MS) + Number(REQUEST_TIMEOUT_MS) + 2_000,
    );
    expect(container.lifecycle.preStop).toEqual({ sleep: { seconds: 5 } });
    // preStop, the drain, and a margin for a slow node.
    expect(pod.terminationGracePeriodSeconds).toBe(5 + Number(DRAIN_TIMEOUT_MS) / 1_000 + 2);
  });

  test('an upgrade keeps the number of ready pods, and a node drain evicts one pod at a time', () => {
    const { strategy, replicas, revisionHistoryLimit } = workload.spec;
    const hasFile = namesOf(objects, 'PersistentVolumeClaim').length > 0;
    const budgets = objects.filter(({ kind }) => kind === 'PodDisruptionBudget');

    if (isRollout) {
      const [activeService, previewService] = [`fw-${chart}`, `fw-${chart}-preview`];
      expect(strategy.blueGreen).toMatchObject({ activeService, previewService });
      // The controller would ignore the deadline while there is an old ReplicaSet.
      expect(revisionHistoryLimit).toBe(0);
      // Otherwise the first measurement would find no metrics.
      expect(only(objects, 'ServiceMonitor').spec.endpoints[0].interval).toBe('5s');
    } else {
      const rolling = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } };
      expect(strategy).toEqual(hasFile ? { type: 'Recreate' } : rolling);
    }
    // A fixed number would undo that of the autoscaler, and the budget of one pod would block the drain.
    expect(replicas).toBe(name === 'defaults' ? 1 : undefined);
    expect(budgets.map(({ spec }) => spec.maxUnavailable)).toEqual(name === 'defaults' ? [] : [1]);
  });
});

describe('the NetworkPolicy', () => {
  const policyOf = (chart: string, values: Values) =>
    only(charts.render(chart, { ...SHARED[chart], ...values }), 'NetworkPolicy', `fw-${chart}`)
      .spec;

  test('allows reports to call its servers, and users and catalog by their labels', () => {
    const { egress } = policyOf('reports', {
      config: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' },
      jwt: { jwksUrl: 'https://keys.example.org' },
      upstreams: { users: '', catalog: 'https://api.example.org:8443/shop' },
    });

    expect(egress.map(({ ports }: Rendered) => ports[0].port)).toEqual([
      ...[53, 6380, 443, 4318, 8443, 8080, 8080],
    ]);
    expect(egress.at(-1).to[0].podSelector.matchLabels).toEqual({
      'app.kubernetes.io/name': 'users',
      'app.kubernetes.io/part-of': 'fw',
    });
  });

  test('allows labelled callers, the ingress controller, the peers in the values, and monitoring', () => {
    const { ingress } = policyOf('users', {
      ingress: { enabled: true, hosts: [{ host: 'api.example.org' }] },
      networkPolicy: { from: [{ podSelector: { matchLabels: { app: 'probe' } } }] },
      global: { networkPolicy: { from: [{ ipBlock: { cidr: '10.0.0.0/8' } }] } },
    });
    const namespace = (name: string) => ({
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': name } },
    });

    expect(ingress).toEqual([
      {
        ports: [{ port: 8080 }],
        from: [
          { podSelector: { matchLabels: { 'fw/calls-users': 'true' } } },
          namespace('nginx-ingress'),
          { ipBlock: { cidr: '10.0.0.0/8' } },
          { podSelector: { matchLabels: { app: 'probe' } } },
        ],
      },
      { ports: [{ port: 9090 }], from: [namespace('monitoring')] },
    ]);
  });
});

test('SQLite is one pod with a volume that outlives the release', () => {
  const objects = charts.render('catalog');
  const { metadata } = only(objects, 'PersistentVolumeClaim');

  expect(metadata.annotations).toEqual({ 'helm.sh/resource-policy': 'keep' });
  expect(podOf(objects, 'fw-catalog').securityContext.fsGroup).toBe(65_532);
  expect(only(objects, 'ConfigMap').data.DATABASE_FILE).toBe('/data/catalog.db');
});

test('secrets are files, from values or existing Secrets, and not in any other object', () => {
  const objects = charts.render('users', SHARED.users);
  const existingSecret = { name: '{{ .Release.Name }}-db', key: 'uri' };
  const postgres = { existingSecret, caSecret: { name: 'ca' } };
  const existing = charts.render('users', { store: { type: 'postgres', postgres } });
  const { containers, initContainers } = podOf(objects, 'fw-users');

  for (const { env, volumeMounts } of [...initContainers, ...containers]) {
    expect(env).toEqual([{ name: 'DATABASE_URL_FILE', value: '/run/secrets/fw/DATABASE_URL' }]);
    expect(volumeMounts[0]).toMatchObject({ mountPath: '/run/secrets/fw', readOnly: true });
  }
  expect(JSON.stringify(objects.filter(({ kind }) => kind !== 'Secret'))).not.toContain('u:p@db');
  expect(podOf(existing, 'fw-users').volumes[0].projected.sources).toEqual([
    { secret: { name: 'fw-db', items: [{ key: 'uri', path: 'DATABASE_URL' }] } },
    { secret: { name: 'ca', items: [{ key: 'ca.crt', path: 'postgres-ca.crt' }] } },
  ]);
});

test.each([
  ['f5-nginx', 'nginx.org/client-max-body-size', 'nginx.org/proxy-read-timeout', '55s'],
  [
    'ingress-nginx',
    'nginx.ingress.kubernetes.io/proxy-body-size',
    'nginx.ingress.kubernetes.io/proxy-read-timeout',
    '55',
  ],
])('the limits of an Ingress for %s are those of the service', (controller, size, time, text) => {
  const objects = charts.render('users', {
    ingress: { enabled: true, hosts: [{ host: 'api.example.org' }], controller },
    config: { REQUEST_TIMEOUT_MS: 45_000, BODY_LIMIT: 2_097_152 },
  });

  const { annotations } = only(objects, 'Ingress').metadata;
  expect(annotations).toMatchObject({ [size]: '2097152', [time]: text });
});

test('a Rollout has its variables in its pods, and measures every objective of one version', () => {
  const limits = { resources: { limits: { memory: '512Mi' } } };
  const objects = charts.render('users', { ...SHARED.users, ...PROGRESSIVE, ...limits });
  const measurementsOf = (name: string): Rendered[] =>
    only(objects, 'AnalysisTemplate', `fw-users-${name}`).spec.metrics;
  const countIn = (name: string) =>
    measurementsOf(name).find((one) => one.name === 'memory')?.count;
  const queries = Object.fromEntries(
    measurementsOf('objectives').map(({ name, provider }) => [name, provider.prometheus.query]),
  );

  // Rolling back restores them.
  expect(namesOf(objects, 'ConfigMap')).toEqual([]);
  expect(Object.keys(queries).sort()).toEqual([
    ...['error', 'has-metrics', 'latency-read-0-95', 'latency-read-0-99'],
    ...['latency-write-0-95', 'latency-write-0-99', 'memory', 'restarts'],
  ]);
  for (const query of Object.values(queries)) {
    expect(query).toContain('pod=~"fw-users-{{args.pods}}-.*"');
  }
  expect(queries.memory).toMatch(new RegExp(`> ${128 * 1024 ** 2}$`));
  // One every 5 s: 25 and 40 s by default, and 5 s for the start of the trial.
  expect([countIn('objectives'), countIn('observation')]).toEqual([7, 9]);
});

/** The Rollout of a canary, and the selectors of the Services of both versions. */
function renderCanary(canary: Values, values: Values = {}) {
  const { progressiveDelivery } = PROGRESSIVE;
  const delivery = { ...Object(progressiveDelivery), strategy: 'canary', canary };
  const from = [{ podSelector: { matchLabels: { app: 'traefik' } } }];
  const all = { networkPolicy: { from }, ...values, progressiveDelivery: delivery };
  const objects = charts.render('users', { ...SHARED.users, ...all });
  const selectorOf = (name: string) => only(objects, 'Service', name).spec.selector;
  return {
    objects,
    canary: only(objects, 'Rollout').spec.strategy.canary,
    selectors: [selectorOf('fw-users'), selectorOf('fw-users-preview')],
  };
}

/** The steps of a canary, each as its kind with its weight or its analyses. */
function describeSteps(steps: readonly Rendered[]): string[] {
  const prefix = 'fw-users-';
  return steps.map(({ setWeight, setCanaryScale, analysis, experiment }) => {
    if (setWeight !== undefined) return `share ${setWeight}`;
    if (setCanaryScale) return `pods ${setCanaryScale.weight}`;
    const { templates } = analysis ?? { templates: experiment.analyses };
    const names = templates.map((one: Rendered) => one.templateName.replace(prefix, ''));
    return `${experiment ? 'experiment' : 'analysis'} ${names.join(' ')}`;
  });
}

test('a canary with Traefik has a trial without users, then a share of the requests at each step', () => {
  const traefik = { enabled: true, hosts: ['a.example.org', 'b.example.org'] };
  const { objects, canary, selectors } = renderCanary({ traefik });

  expect(describeSteps(canary.steps)).toEqual([
    ...['pods 10', 'analysis trial objectives', 'share 10', 'analysis observation'],
    ...['pods 25', 'share 25', 'analysis observation'],
    ...['pods 50', 'share 50', 'analysis observation'],
  ]);
  expect(canary).toMatchObject({
    ...{ stableService: 'fw-users', canaryService: 'fw-users-preview' },
    trafficRouting: { traefik: { weightedTraefikServiceName: 'fw-users' } },
  });
  expect(selectors).toEqual([undefined, undefined]);
  expect(only(objects, 'TraefikService').spec.weighted.services).toEqual([
    { name: 'fw-users', port: 80, weight: 100 },
    { name: 'fw-users-preview', port: 80, weight: 0 },
  ]);
  expect(only(objects, 'IngressRoute').spec.routes[0]).toEqual({
    kind: 'Rule',
    match:
      '(Host(`a.example.org`) || Host(`b.example.org`)) && (Path(`/api/v1/users`) || PathPrefix(`/api/v1/users/`))',
    services: [{ kind: 'TraefikService', name: 'fw-users' }],
  });
});

test('a canary without a router has its trial in a pod that gets no requests of users', () => {
  const { objects, canary, selectors } = renderCanary({ weights: [50] });
  const { labels } = only(objects, 'Rollout').spec.template.metadata;
  const trial = { ...labels, ...canary.steps[0].experiment.templates[0].metadata.labels };
  const pods = [labels, trial].map((each, index) => ({ name: `${index}`, labels: each, spec: {} }));

  expect(describeSteps(canary.steps)).toEqual([
    ...['experiment trial objectives', 'share 50', 'analysis observation'],
  ]);
  expect(selectors.map((each) => selected(pods, each).map(({ name }) => name))).toEqual([
    ...[['0'], ['1']],
  ]);
});

test('a canary with the plugin for the Gateway API has its shares in the HTTPRoute, and the block of Argo Rollouts', () => {
  const name = 'argoproj-labs/gatewayAPI';
  const templates = {
    httpRoute: '{{ include "common.name" . }}',
    namespace: '{{ .Release.Namespace }}',
  };

  const httpRoute = { enabled: true, parentRefs: [{ name: 'public' }] };

  const { canary, objects } = renderCanary(
    { trafficRouting: { plugins: { [name]: templates } } },
    { httpRoute },
  );

  expect(canary.trafficRouting.plugins).toEqual({
    [name]: { httpRoute: 'fw-users', namespace: 'trial' },
  });
  expect(namesOf(objects, 'TraefikService')).toEqual([]);
  expect(only(objects, 'HTTPRoute').spec.rules[0].backendRefs).toEqual([
    { name: 'fw-users', port: 80, weight: 100 },
    { name: 'fw-users-preview', port: 80, weight: 0 },
  ]);
});
