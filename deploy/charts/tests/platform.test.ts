import { beforeAll, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';

import { SERVICE_NAMES, SERVICES } from '../../../services/services.ts';
import { HOST, namesOf, PLATFORMS, podsOf, selected } from './platform.ts';
import { charts, only, type Rendered, type Values } from './render.ts';
import { findingsOf } from './score.ts';

const CASES = Object.entries<Values>(PLATFORMS).map(([name, values]) => ({ name, values }));

describe.each(CASES)('$name', ({ values }) => {
  let objects: Rendered[];
  let pods: ReturnType<typeof podsOf>;
  beforeAll(() => {
    objects = charts.render('platform', values);
    pods = podsOf(objects);
  });

  test('object names are unique per kind and begin with the release name', () => {
    const names = objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);

    expect(new Set(names).size).toBe(names.length);
    for (const { metadata } of objects) {
      expect(metadata.name).toMatch(/^fw-/);
      expect(metadata).not.toHaveProperty('namespace');
      expect(metadata.labels).toMatchObject({
        'app.kubernetes.io/name': expect.any(String),
        'app.kubernetes.io/instance': 'fw',
      });
    }
  });

  test('every pod meets Pod Security "restricted", has no token, and has resource limits', () => {
    for (const { name, spec } of pods) {
      expect(spec, name).toMatchObject({
        automountServiceAccountToken: false,
        enableServiceLinks: false,
        securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      });
      for (const one of [...(spec.initContainers ?? []), ...spec.containers]) {
        expect(one.securityContext, name).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
        expect(one.resources.limits, name).toHaveProperty('memory');
        expect(one.resources.requests, name).toHaveProperty('cpu');
      }
    }
  });

  test('selectors match the pods of one part and contain no version', () => {
    const selectors = objects.flatMap(({ kind, spec }) => {
      if (kind === 'Service') return [spec.selector];
      if (kind === 'NetworkPolicy') return [spec.podSelector.matchLabels];
      const kinds = ['Deployment', 'StatefulSet', 'PodDisruptionBudget'];
      return kinds.includes(kind) ? [spec.selector.matchLabels] : [];
    });

    for (const selector of selectors) {
      expect(selected(pods, selector), JSON.stringify(selector)).toHaveLength(1);
      expect(Object.keys(selector)).not.toContain('app.kubernetes.io/version');
      expect(Object.keys(selector)).not.toContain('helm.sh/chart');
    }
  });

  test('every mounted ConfigMap and Secret is rendered or named in the values', () => {
    const isThere = (kind: string, name: string) =>
      namesOf(objects, kind).includes(name) || JSON.stringify(values).includes(`"${name}"`);

    for (const { name: pod, spec } of pods) {
      for (const { configMap, secret, projected } of spec.volumes ?? []) {
        if (configMap) expect(isThere('ConfigMap', configMap.name), pod).toBe(true);
        if (secret) expect(isThere('Secret', secret.secretName), pod).toBe(true);
        for (const source of projected?.sources ?? []) {
          expect(isThere('Secret', source.secret.name), `${pod} ${source.secret.name}`).toBe(true);
        }
      }
    }
  });

  test('every pod has NetworkPolicies for ingress and egress', () => {
    const policies = objects.filter(({ kind }) => kind === 'NetworkPolicy');

    for (const pod of pods) {
      const around = policies.filter(
        ({ spec }) => selected([pod], spec.podSelector.matchLabels).length > 0,
      );
      const directions = around.flatMap(({ spec }) => spec.policyTypes);
      expect(directions, pod.name).toEqual(expect.arrayContaining(['Ingress', 'Egress']));
      for (const { spec } of around) expect(spec.egress ?? []).not.toContainEqual({});
    }
  });

  test('Deployments with several pods have a disruption budget of one pod', () => {
    const several = objects.filter(({ kind, spec }) => kind === 'Deployment' && spec.replicas > 1);
    const budgets = objects.filter(({ kind }) => kind === 'PodDisruptionBudget');

    expect(namesOf(budgets, 'PodDisruptionBudget').sort()).toEqual(
      namesOf(several, 'Deployment').sort(),
    );
    for (const { spec } of budgets) expect(spec.maxUnavailable).toBe(1);
  });

  test('the notes contain an address and example requests', () => {
    const { status, stdout, stderr } = charts.helm(
      ['install', 'fw', 'platform', '--dry-run=client', '--namespace', 'trial', '--values', '-'],
      values,
    );
    const [, notes = ''] = stdout.split('\nNOTES:\n');

    expect(status, stderr).toBe(0);
    expect(notes).toMatch(/^ {2}BASE=http/m);
    expect(notes).toContain('curl');
    expect(notes).not.toContain('<no value>');
  });
});

/** Findings of kube-score about the platform that stay, with the reason. */
const EXPLAINED: Readonly<Record<string, string>> = {
  'pod-probes-identical: Deployment/apps/v1//fw-edge':
    'The page is all that nginx serves by itself; the probes differ in their thresholds.',
  'statefulset-has-servicename: StatefulSet/apps/v1//fw-postgres':
    'A headless Service would resolve to the address of a pod, which clients may cache.',
  'deployment-strategy: Deployment/apps/v1//fw-valkey': 'Two servers would count separately.',
  'deployment-replicas: Deployment/apps/v1//fw-valkey':
    'The bundled Valkey is one server, for trials.',
  'deployment-replicas: Deployment/apps/v1//fw-edge': 'Set by a value.',
  'service-type: Service/v1//fw-edge': 'Set by a value.',
  ...Object.fromEntries(
    SERVICES.flatMap(({ name, store }) => [
      [`deployment-replicas: Deployment/apps/v1//fw-${name}`, 'Set by a value.'],
      ...(store === 'database'
        ? [
            [
              `deployment-strategy: Deployment/apps/v1//fw-${name}`,
              'Two pods must not open the same file.',
            ],
          ]
        : []),
    ]),
  ),
};

test('kube-score finds only the explained exceptions in the platform', () => {
  const findings = CASES.flatMap(({ values }) => {
    const text = charts.render('platform', values).map((one) => stringify(one, { version: '1.1' }));
    return findingsOf(text.join('---\n')).findings;
  });
  const found = new Set(findings.map((one) => one.split(': ', 2).join(': ')));

  expect([...found].sort()).toEqual(Object.keys(EXPLAINED).sort());
});

test('helm lint --strict accepts the platform', () => {
  const { status, stdout } = charts.helm(['lint', '--strict', 'platform']);

  expect(stdout).not.toMatch(/\[(WARNING|ERROR)\]/);
  expect(status).toBe(0);
});

const { 'external servers': external, 'no servers': alone } = PLATFORMS;

test.each<{ off: string; values: Values }>([
  {
    off: 'users',
    values: { users: { enabled: false }, reports: { upstreams: { users: 'http://people' } } },
  },
  { off: 'edge', values: { edge: { enabled: false } } },
  { off: 'postgres', values: alone },
  { off: 'valkey', values: alone },
  { off: 'tokens', values: external },
])('disabling $off removes all its objects', ({ off, values }) => {
  const names = charts.render('platform', values).map(({ metadata }) => metadata.name);

  expect(names).not.toContainEqual(expect.stringMatching(new RegExp(`^fw-${off}\\b`)));
});

describe('one host for all services', () => {
  const KIND = 'nginx.org/mergeable-ingress-type';
  const ofKind = (kind: string, values: Values) =>
    charts.render('platform', values).filter((object) => object.kind === kind);

  const withoutEdge = (name: keyof typeof PLATFORMS): Values => ({
    ...PLATFORMS[name],
    edge: { enabled: false },
  });

  test('f5-nginx gets one master with the certificate, and one minion per service', () => {
    const all = ofKind('Ingress', withoutEdge('f5-nginx'));
    const isMaster = ({ metadata }: Rendered) => metadata.annotations?.[KIND] === 'master';
    const [master, ...others] = all.filter(isMaster);
    const minions = all.filter(({ metadata }) => metadata.annotations?.[KIND] === 'minion');

    expect(others).toEqual([]);
    expect(master?.spec).toEqual({
      ingressClassName: 'nginx',
      tls: [{ hosts: [HOST], secretName: 'certificate' }],
      rules: [{ host: HOST }],
    });
    expect(minions).toHaveLength(SERVICE_NAMES.length);
    for (const { spec } of minions) {
      expect(spec).not.toHaveProperty('tls');
      expect(spec.rules[0].host).toBe(HOST);
      expect(spec.rules[0].http.paths).toHaveLength(3);
    }
  });

  test('other controllers get one Ingress per service', () => {
    const all = ofKind('Ingress', withoutEdge('ingress-nginx'));

    expect(all).toHaveLength(SERVICE_NAMES.length);
    for (const { metadata } of all) expect(metadata.annotations).not.toHaveProperty(KIND);
  });

  test('a gateway gets one route per service', () => {
    const routes = ofKind('HTTPRoute', PLATFORMS['a gateway']);

    expect(routes).toHaveLength(SERVICE_NAMES.length);
    for (const { spec } of routes) expect(spec.parentRefs).toEqual([{ name: 'public' }]);
  });

  test.each([
    ['f5-nginx', { [KIND]: 'minion' }, false],
    ['ingress-nginx', {}, true],
  ] as const)('%s sends paths of no service to the edge', (name, annotations, hasTls) => {
    const tls = [{ secretName: 'certificate', hosts: [HOST] }];
    const { ingress } = PLATFORMS[name].global;
    const all = ofKind('Ingress', { global: { ingress: { ...ingress, tls } } });
    const { metadata, spec } = only(all, 'Ingress', 'fw-edge');

    expect(metadata.annotations ?? {}).toEqual(annotations);
    expect(spec.tls).toEqual(hasTls ? tls : undefined);
    const backend = { service: { name: 'fw-edge', port: { name: 'http' } } };
    expect(spec.rules).toEqual([
      { host: HOST, http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } },
    ]);
  });

  test('a gateway sends paths of no service to the edge', () => {
    const edge = { enabled: true, service: { port: 8000 } };
    const { global } = PLATFORMS['a gateway'];
    const route = only(ofKind('HTTPRoute', { global, edge }), 'HTTPRoute', 'fw-edge');

    expect(route.spec).toEqual({
      parentRefs: [{ name: 'public' }],
      rules: [{ backendRefs: [{ name: 'fw-edge', port: 8000 }] }],
    });
  });

  test('the weight of a next version changes only the route of its service', () => {
    const others = [{ name: 'users-next', weight: 5 }];
    const weightsOf = (values: Values) =>
      ofKind('HTTPRoute', { ...PLATFORMS['a gateway'], ...values }).map(({ spec }) =>
        spec.rules[0].backendRefs.map(({ name, weight }: Rendered) => `${name} ${weight}`),
      );

    const unchanged = SERVICE_NAMES.filter((name) => name !== 'users');
    expect(weightsOf({ users: { httpRoute: { weight: 95, others } } }).toSorted()).toEqual(
      [...unchanged.map((name) => [`fw-${name} 100`]), ['fw-users 95', 'users-next 5']].toSorted(),
    );
  });
});

test.for(Object.entries(PLATFORMS))(
  '%s: no egress rule has an empty list, which would allow everything',
  ([, values]) => {
    const rules = charts
      .render('platform', values)
      .filter(({ kind }) => kind === 'NetworkPolicy')
      .flatMap(({ metadata, spec }) =>
        (spec.egress ?? []).map((rule: Rendered) => [metadata.name, rule] as const),
      );

    expect(rules.length).toBeGreaterThan(5);
    for (const [name, { to, ports }] of rules) {
      // An external server has a port and may have any address.
      expect([name, ports?.length ?? 0, to?.length ?? 'anywhere']).not.toContain(0);
    }
  },
);

test('global.networkPolicy applies to the services, the edge and the tests', () => {
  const shared = {
    from: [{ podSelector: { matchLabels: { app: 'gateway' } } }],
    monitoringFrom: [{ podSelector: { matchLabels: { app: 'prometheus' } } }],
    dnsTo: [{ ipBlock: { cidr: '169.254.20.10/32' } }],
    dnsPorts: [1053],
  };
  const policies = charts
    .render('platform', { global: { networkPolicy: shared } })
    .filter(({ kind }) => kind === 'NetworkPolicy');
  const namesWhere = (way: 'ingress' | 'egress', holds: (rule: string) => boolean) =>
    policies
      .filter(({ spec }) => (spec[way] ?? []).some((rule: Rendered) => holds(JSON.stringify(rule))))
      .map(({ metadata }) => metadata.name)
      .sort();
  const services = SERVICE_NAMES.map((name) => `fw-${name}`).sort();

  for (const peer of ['gateway', 'prometheus']) {
    expect(namesWhere('ingress', (rule) => rule.includes(peer))).toEqual(services);
  }
  expect(
    namesWhere('egress', (rule) => rule.includes('1053') && rule.includes('169.254.20.10')),
  ).toEqual([...services, 'fw-edge'].flatMap((name) => [name, `${name}-test`]).sort());
  expect(JSON.stringify(policies)).not.toContain('kube-dns');
});

test('the test of the edge knows the installed services and the generated secret', () => {
  const envOf = (values: Values): Record<string, unknown> =>
    Object.fromEntries(
      only(charts.render('platform', values), 'Pod', 'fw-edge-test').spec.containers[0].env.map(
        ({ name, value, valueFrom }: Rendered) => [name, value ?? valueFrom.secretKeyRef.name],
      ),
    );

  expect(envOf({})).toEqual({
    BASE: 'http://fw-edge:80',
    SERVICES: SERVICE_NAMES.join(' '),
    JWT_SECRET: 'fw-tokens',
    JWT_ISSUER: 'fw',
    JWT_AUDIENCE: 'reports',
  });
  expect(envOf(PLATFORMS['users only'])).toEqual({
    BASE: 'http://fw-edge:80',
    SERVICES: 'users',
  });
});

test('a pod of the edge becomes ready after the network had time to connect it', () => {
  const edge = podsOf(charts.render('platform', {})).find(({ name }) => name.includes('edge'));
  const [nginx] = edge?.spec.containers ?? [];

  expect(nginx.readinessProbe.initialDelaySeconds).toBeGreaterThanOrEqual(5);
});
