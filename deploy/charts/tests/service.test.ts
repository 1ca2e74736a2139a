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
  podsOf,
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
  let objects: Rendered[];
  let workload: Rendered;
  let pod: Rendered['spec'];
  let container: Rendered;
  beforeAll(() => {
    objects = charts.render(chart, values);
    workload = only(objects, name === 'a Rollout' ? 'Rollout' : 'Deployment');
    pod = workload.spec.template.spec;
    [container] = pod.containers;
  });
  const variablesOf = (): Record<string, string> =>
    name === 'a Rollout'
      ? Object.fromEntries(container.env.map((one: Rendered) => [one.name, one.value]))
      : only(objects, 'ConfigMap', `fw-${chart}`).data;

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

  test('every pod meets Pod Security "restricted", has no token, and has limits', () => {
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
        expect(one.resources.limits).toEqual({ memory: '256Mi', 'ephemeral-storage': '1Gi' });
        expect(one.image).toBe(`fw-${chart}:0.1.0`);
      }
    }
  });

  test('the service runs the entrypoint of its image, after its migration, with probes', () => {
    const migrates = SERVICES.some((one) => one.name === chart && one.store === 'database');

    expect(container).not.toHaveProperty('command');
    expect((pod.initContainers ?? []).map(({ args }: Rendered) => args)).toEqual(
      migrates ? [['migrate', '--wait', '60']] : [],
    );
    expect(container).toMatchObject({
      ports: [
        { name: 'http', containerPort: 8080 },
        { name: 'health', containerPort: 9090 },
      ],
      startupProbe: { httpGet: { path: '/startupz', port: 'health' }, failureThreshold: 60 },
      livenessProbe: { httpGet: { path: '/livez', port: 'health' }, periodSeconds: 10 },
      readinessProbe: { httpGet: { path: '/readyz', port: 'health' }, periodSeconds: 2 },
    });
  });

  test('selectors match the pods of the service and contain no version', () => {
    const { labels } = workload.spec.template.metadata;
    const selectors = [
      workload.spec.selector.matchLabels,
      ...pod.topologySpreadConstraints.map((one: Rendered) => one.labelSelector.matchLabels),
      ...objects.flatMap(({ kind, metadata, spec }) => {
        if (kind === 'PodDisruptionBudget') return [spec.selector.matchLabels];
        if (kind === 'Service' && name !== 'a Rollout') return [spec.selector];
        const isPolicy = kind === 'NetworkPolicy' && !metadata.name.endsWith('-test');
        return isPolicy ? [spec.podSelector.matchLabels] : [];
      }),
    ];

    for (const selector of selectors) {
      expect(selector).toEqual({
        'app.kubernetes.io/name': chart,
        'app.kubernetes.io/instance': 'fw',
        'app.kubernetes.io/component': 'server',
      });
      expect(labels).toMatchObject(selector);
    }
    expect(selected(podsOf(objects), selectors[0])).toHaveLength(1);
  });

  test('every object that a pod refers to is rendered', () => {
    for (const { spec } of podsOf(objects)) {
      const volumes = spec.volumes ?? [];
      for (const { persistentVolumeClaim: claim, projected } of volumes) {
        if (claim) expect(namesOf(objects, 'PersistentVolumeClaim')).toContain(claim.claimName);
        for (const { secret } of projected?.sources ?? []) {
          const { stringData } = only(objects, 'Secret', secret.name);
          for (const { key } of secret.items) expect(stringData).toHaveProperty(key);
        }
      }
      for (const one of [...(spec.initContainers ?? []), ...spec.containers]) {
        for (const { configMapRef } of one.envFrom ?? []) {
          expect(namesOf(objects, 'ConfigMap')).toContain(configMapRef.name);
        }
        const known = volumes.map((volume: Rendered) => volume.name);
        for (const mount of one.volumeMounts ?? []) expect(known).toContain(mount.name);
      }
    }
  });

  test('a pod ends no earlier than its longest request', () => {
    const { DRAIN_TIMEOUT_MS, DRAIN_DELAY_MS, REQUEST_TIMEOUT_MS } = variablesOf();

    // Drain delay, 5 s for idle connections, the longest request, 2 s to close.
    expect(Number(DRAIN_TIMEOUT_MS)).toBe(
      Number(DRAIN_DELAY_MS) + 5_000 + Number(REQUEST_TIMEOUT_MS) + 2_000,
    );
    expect(container.lifecycle.preStop).toEqual({ sleep: { seconds: 5 } });
    // preStop, the drain, and a margin for a slow node.
    expect(pod.terminationGracePeriodSeconds).toBe(5 + Number(DRAIN_TIMEOUT_MS) / 1_000 + 2);
  });

  test('an upgrade keeps the number of ready pods, and a node drain evicts one pod at a time', () => {
    const { strategy, replicas } = workload.spec;
    const hasFile = namesOf(objects, 'PersistentVolumeClaim').length > 0;
    const budgets = objects.filter(({ kind }) => kind === 'PodDisruptionBudget');

    if (name === 'a Rollout') {
      expect(strategy.blueGreen).toMatchObject({
        activeService: `fw-${chart}`,
        previewService: `fw-${chart}-preview`,
      });
    } else {
      const rolling = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } };
      expect(strategy).toEqual(hasFile ? { type: 'Recreate' } : rolling);
    }
    // A fixed number would undo that of the autoscaler, and the budget of one pod would block the drain.
    expect(replicas).toBe(name === 'defaults' ? 1 : undefined);
    expect(budgets.map(({ spec }) => spec.maxUnavailable)).toEqual(name === 'defaults' ? [] : [1]);
  });

  test('the paths are those of the versions in services.ts, and upstreams those that it calls', () => {
    const { versions, calls } = SERVICES.find((one) => one.name === chart) ?? {};
    const paths = [...(versions ?? []).map((one) => `/api/${one}/${chart}`), `/docs/${chart}`];
    const called = (calls ?? []).map((other) => `${other.toUpperCase()}_URL`);

    expect(Object.keys(variablesOf())).toEqual(expect.arrayContaining(called));
    if (name === 'defaults') return;
    const ingress = only(objects, 'Ingress').spec.rules[0].http.paths;
    const route = only(objects, 'HTTPRoute').spec.rules[0];
    expect(ingress.map((one: Rendered) => one.path)).toEqual(paths);
    expect(route.matches.map((one: Rendered) => one.path.value)).toEqual(paths);
    expect(route).toMatchObject({
      timeouts: { request: '30s' },
      backendRefs: [
        { name: `fw-${chart}`, port: 80, weight: 100 },
        { name: 'next', weight: 10 },
      ],
    });
  });
});

describe('the NetworkPolicy', () => {
  const policyOf = (chart: string, values: Values, name = `fw-${chart}`) =>
    only(charts.render(chart, { ...SHARED[chart], ...values }), 'NetworkPolicy', name).spec;
  const from = (selector: object) => expect.objectContaining({ from: [selector] });

  test('allows labelled callers, monitoring, DNS and the database', () => {
    const { ingress, egress } = policyOf('users', {});

    expect(ingress).toEqual([
      from({ podSelector: { matchLabels: { 'fw/calls-users': 'true' } } }),
      from({ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } }),
    ]);
    expect(ingress.map(({ ports }: Rendered) => ports)).toEqual([
      [{ port: 8080 }],
      [{ port: 9090 }],
    ]);
    expect(egress.map(({ ports }: Rendered) => ports[0].port)).toEqual([53, 5433]);
  });

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

  test('allows the ingress controller and the peers in the values', () => {
    const { ingress } = policyOf('users', {
      ingress: { enabled: true, hosts: [{ host: 'api.example.org' }] },
      networkPolicy: { from: [{ podSelector: { matchLabels: { app: 'probe' } } }] },
      global: { networkPolicy: { from: [{ ipBlock: { cidr: '10.0.0.0/8' } }] } },
    });

    expect(ingress[0].from.slice(1)).toEqual([
      { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'nginx-ingress' } } },
      { ipBlock: { cidr: '10.0.0.0/8' } },
      { podSelector: { matchLabels: { app: 'probe' } } },
    ]);
  });

  test('lets helm test call its service only', () => {
    const { ingress, egress } = policyOf('users', {}, 'fw-users-test');

    expect(ingress).toBeUndefined();
    expect(egress.map(({ ports }: Rendered) => ports[0].port)).toEqual([53, 8080]);
  });
});

test('SQLite is one pod with a volume that outlives the release', () => {
  const objects = charts.render('catalog');
  const { metadata, spec } = only(objects, 'PersistentVolumeClaim');

  expect(metadata.annotations).toEqual({ 'helm.sh/resource-policy': 'keep' });
  expect(spec.resources.requests).toEqual({ storage: '1Gi' });
  expect(podOf(objects, 'fw-catalog').securityContext.fsGroup).toBe(65_532);
  expect(only(objects, 'ConfigMap').data.DATABASE_FILE).toBe('/data/catalog.db');
});

test('secrets are files, from values or existing Secrets, and not in any other object', () => {
  const objects = charts.render('users', SHARED.users);
  const existing = charts.render('users', {
    store: {
      type: 'postgres',
      postgres: {
        existingSecret: { name: '{{ .Release.Name }}-db', key: 'uri' },
        caSecret: { name: 'ca' },
      },
    },
  });
  const { containers, initContainers } = podOf(objects, 'fw-users');

  for (const { env, volumeMounts } of [...initContainers, ...containers]) {
    expect(env).toEqual([{ name: 'DATABASE_URL_FILE', value: '/run/secrets/fw/DATABASE_URL' }]);
    expect(volumeMounts).toEqual([
      { name: 'secrets', mountPath: '/run/secrets/fw', readOnly: true },
    ]);
  }
  expect(JSON.stringify(objects.filter(({ kind }) => kind !== 'Secret'))).not.toContain('u:p@db');
  expect(namesOf(existing, 'Secret')).toEqual([]);
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
])(
  'the limits of an Ingress for %s follow those of the service',
  (controller, size, time, text) => {
    const objects = charts.render('users', {
      ingress: { enabled: true, hosts: [{ host: 'api.example.org' }], controller },
      config: { REQUEST_TIMEOUT_MS: 45_000, BODY_LIMIT: 2_097_152 },
    });

    expect(only(objects, 'Ingress').metadata.annotations).toMatchObject({
      [size]: '2097152',
      [time]: text,
    });
  },
);

test('a route sends requests with a header to another Service, whatever its weight', () => {
  const headers = { 'x-canary': 'always' };
  const [canary, others] = only(
    charts.render('users', {
      httpRoute: {
        enabled: true,
        parentRefs: [{ name: 'public' }],
        others: [{ name: 'next', weight: 0, headers }],
      },
      networkPolicy: { from: [{ namespaceSelector: {} }] },
    }),
    'HTTPRoute',
  ).spec.rules;

  expect(canary.backendRefs).toEqual([{ name: 'next', port: 80 }]);
  expect(canary.matches[0].headers).toEqual([{ name: 'x-canary', value: 'always' }]);
  expect(others.matches[0]).not.toHaveProperty('headers');
});

describe('a Rollout', () => {
  const render = (values: Values = {}) =>
    charts.render('users', { ...SHARED.users, ...PROGRESSIVE, ...values });
  const measurementsOf = (objects: readonly Rendered[], name: string): Rendered[] =>
    only(objects, 'AnalysisTemplate', `fw-users-${name}`).spec.metrics;

  test('has the environment in its pods, so that rolling back restores it', () => {
    const { data } = only(charts.render('users', SHARED.users), 'ConfigMap');
    const [container] = podOf(render(), 'fw-users').containers;

    expect(namesOf(render(), 'ConfigMap')).toEqual([]);
    expect(container.env).toEqual(
      expect.arrayContaining(Object.entries(data).map(([name, value]) => ({ name, value }))),
    );
  });

  test('lets its controller set the selectors, and keeps no old ReplicaSet', () => {
    const objects = render();

    for (const { kind, spec } of objects) {
      if (kind === 'Service') expect(spec).not.toHaveProperty('selector');
    }
    // The controller would ignore the deadline while there is one.
    expect(only(objects, 'Rollout').spec).toMatchObject({
      ...{ revisionHistoryLimit: 0, progressDeadlineSeconds: 120, progressDeadlineAbort: true },
    });
  });

  test('tries the program of helm test on the preview Service', () => {
    const objects = render();
    const [metric] = measurementsOf(objects, 'trial');
    const [trial] = metric?.provider.job.spec.template.spec.containers ?? [];
    const [container] = only(objects, 'Pod', 'fw-users-test').spec.containers;

    expect(trial.command).toEqual(container.command);
    expect(trial.env).toEqual([
      { name: 'BASE', value: 'http://fw-users-preview:80' },
      { name: 'TRIAL_SECONDS', value: '25' },
    ]);
  });

  test('measures every objective for the pods of one version, for the given time', () => {
    const objects = render({ resources: { limits: { memory: '512Mi' } } });
    const metrics = measurementsOf(objects, 'objectives');
    const late = measurementsOf(objects, 'observation');

    expect(metrics.map(({ name }) => name).sort()).toEqual([
      ...['error', 'has-metrics', 'latency-read-0-95', 'latency-read-0-99'],
      ...['latency-write-0-95', 'latency-write-0-99', 'memory', 'restarts'],
    ]);
    for (const { provider } of metrics) {
      expect(provider.prometheus.address).toBe('http://prometheus:9090');
      expect(provider.prometheus.query).toContain('pod=~"fw-users-{{args.pods}}-.*"');
    }
    const memory = metrics.find(({ name }) => name === 'memory');
    expect(memory?.provider.prometheus.query).toMatch(new RegExp(`> ${128 * 1024 ** 2}$`));
    expect([memory?.count, late.find(({ name }) => name === 'memory')?.count]).toEqual([7, 9]);
  });
});
