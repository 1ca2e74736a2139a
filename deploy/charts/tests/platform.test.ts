import { beforeAll, describe, expect, test } from 'vitest';

import { SERVICE_NAMES } from '../../../services/services.ts';
import {
  all,
  charts,
  namesOf,
  only,
  podsOf,
  type Rendered,
  selected,
  type Values,
} from './render.ts';
import { GATEWAY, LIMITED, PLATFORMS, PRODUCTION } from './values.ts';

const OFF = { enabled: false };

describe.each(Object.entries(PLATFORMS))('%s', (_, values) => {
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
      expect(metadata.name).toMatch(/^fw(-|$)/);
      expect(metadata.labels).toMatchObject({ 'app.kubernetes.io/instance': 'fw' });
    }
  });

  test('each selector matches the pods of one part, and contains no version', () => {
    for (const { kind, metadata, spec } of objects) {
      const selector =
        kind === 'Service'
          ? spec.selector
          : (spec?.selector?.matchLabels ?? spec?.podSelector?.matchLabels);
      if (!selector || kind === 'ServiceMonitor') continue;
      expect(selected(pods, selector), `${kind} ${metadata.name}`).toHaveLength(1);
      expect(Object.keys(selector)).not.toContain('app.kubernetes.io/version');
    }
  });

  test('every pod is restricted, and has a NetworkPolicy for ingress and egress', () => {
    const policies = all(objects, 'NetworkPolicy');

    for (const { name, labels, spec } of pods) {
      expect(spec.automountServiceAccountToken, name).toBe(false);
      expect(spec.securityContext).toMatchObject({
        ...{ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      });
      for (const { securityContext } of [...(spec.initContainers ?? []), ...spec.containers]) {
        expect(securityContext, name).toEqual({
          ...{ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true },
          capabilities: { drop: ['ALL'] },
        });
      }
      const around = policies.filter(
        (policy) => selected([{ name, labels, spec }], policy.spec.podSelector.matchLabels).length,
      );
      const types = around.map((policy) => policy.spec.policyTypes);
      expect(types, name).toEqual([['Ingress', 'Egress']]);
      // An empty list of peers or ports would allow everything.
      for (const { to, ports } of around[0]?.spec.egress ?? []) {
        expect([to?.length ?? 0, ports?.length ?? 0], name).not.toContain(0);
      }
    }
  });
});

test('one Ingress has the certificate, and the paths of every service and of the edge', () => {
  const objects = charts.render('platform', PLATFORMS['ingress-nginx']);
  const { metadata, spec } = only(objects, 'Ingress');
  const targets = spec.rules[0].http.paths.map(({ path, pathType, backend }: Rendered) =>
    [pathType, path, backend.service.name].join(' '),
  );

  expect(metadata.annotations).toMatchObject({
    'nginx.ingress.kubernetes.io/proxy-body-size': '1m',
  });
  expect(spec).toMatchObject({
    ...{ ingressClassName: 'nginx', rules: [{ host: 'api.example.org' }] },
    tls: [{ secretName: 'api-tls', hosts: ['api.example.org'] }],
  });
  expect(targets.sort()).toEqual(
    [
      ...SERVICE_NAMES.flatMap((name) =>
        ['api/v1', 'api/v2', 'docs'].map((path) => `Prefix /${path}/${name} fw-${name}`),
      ),
      'Prefix / fw-edge',
    ].sort(),
  );
});

test('global.httpRoute creates a route of each service, and of the edge for all other paths', () => {
  const routes = all(charts.render('platform', PLATFORMS['a Gateway']), 'HTTPRoute');

  expect(
    routes.map(({ metadata, spec }) => [metadata.name, spec.rules[0].matches[0].path.value]).sort(),
  ).toEqual(
    [['fw-edge', '/'], ...SERVICE_NAMES.map((name) => [`fw-${name}`, `/api/v1/${name}`])].sort(),
  );
});

test.each(['users', 'catalog'])(
  'httpRoute.rules replaces the rule of %s: a limit at Traefik',
  (name) => {
    const [before, after] = [PRODUCTION, LIMITED].map((values) =>
      charts.render('platform', values),
    );
    const rulesOf = (objects: readonly Rendered[] = []) =>
      only(objects, 'HTTPRoute', `fw-${name}`).spec.rules;
    const { matches, filters, ...others } = rulesOf(after).at(-1);
    const { matches: paths, ...defaults } = rulesOf(before)[0];

    expect(others).toEqual(defaults);
    expect(filters[0].extensionRef).toMatchObject({ kind: 'Middleware', name: `fw-${name}` });
    expect(namesOf(after ?? [], 'Middleware')).toContain(`fw-${name}`);
    for (const { path } of paths) {
      expect(path.value).toMatch(new RegExp(matches[0].path.value));
      expect(`${path.value}/1`).toMatch(new RegExp(matches[0].path.value));
    }
  },
);

test('global.image and global.imagePullSecrets apply to every image', () => {
  const image = { registry: 'registry.example.org', pullPolicy: 'Always', tag: '7' };
  const global = { image, imagePullSecrets: [{ name: 'registry' }] };

  for (const { name, spec } of podsOf(charts.render('platform', { global }))) {
    expect(spec.imagePullSecrets, name).toEqual([{ name: 'registry' }]);
    for (const one of [...(spec.initContainers ?? []), ...spec.containers]) {
      expect(one.image).toMatch(/^registry\.example\.org\//);
      expect(one.imagePullPolicy).toBe('Always');
      expect(one.image.endsWith(':7'), one.image).toBe(one.image.includes('/fw-'));
    }
  }
});

test('global.networkPolicy applies to the services, and its lists except from to the edge', () => {
  const monitoringFrom = [{ podSelector: { matchLabels: { app: 'prometheus' } } }];
  const networkPolicy = { from: [GATEWAY], monitoringFrom, dnsPorts: [1053] };
  const objects = charts.render('platform', { global: { networkPolicy } });
  const having = (text: string) =>
    all(objects, 'NetworkPolicy')
      .filter((one) => JSON.stringify(one).includes(text))
      .map(({ metadata }) => metadata.name)
      .sort();
  const services = SERVICE_NAMES.map((name) => `fw-${name}`);
  const parts = [...services, 'fw-edge'];

  expect(having('gateway')).toEqual(services.sort());
  expect(having('prometheus')).toEqual(parts.sort());
  expect(having('1053')).toEqual(parts.flatMap((name) => [name, `${name}-test`]).sort());
});

test('the edge may call the services that are installed, and every address may call the edge', () => {
  const objects = charts.render('platform', { reports: OFF });
  const { ingress, egress } = only(objects, 'NetworkPolicy', 'fw-edge').spec;
  const called = egress.flatMap(({ to }: Rendered) =>
    to.map((peer: Rendered) => peer.podSelector?.matchLabels['app.kubernetes.io/name']),
  );
  const { labels } = only(objects, 'Deployment', 'fw-edge').spec.template.metadata;

  expect(called.filter((name: string) => name)).toEqual(['catalog', 'users']);
  expect(labels).toMatchObject({ 'services.local/calls-users': 'true' });
  expect(JSON.stringify(ingress[0].from)).toContain('0.0.0.0/0');
});

const MINE = { existingSecret: 'mine', key: 'url' };

test.each<[string, Values]>([
  ['users.enabled is false, but reports calls it', { users: OFF }],
  ['trial.enabled is false, but users.secrets.DATABASE_URL is the Secret', { trial: OFF }],
  ['trial.enabled is false, but reports.secrets.JWT_SECRET is the Secret', { trial: OFF }],
  [
    'networkPolicy.egress.database.to is empty',
    {
      users: {
        secrets: { DATABASE_URL: MINE },
        networkPolicy: { egress: { database: { to: [] } } },
      },
    },
  ],
  [
    'but the edge waits for 30 s: expected a larger edge.requestTimeoutSeconds',
    { users: { requestTimeoutSeconds: 30 } },
  ],
  [
    'users.config.BODY_LIMIT is 2000000, but the edge accepts bodies of 1048576 bytes',
    { users: { config: { BODY_LIMIT: 2_000_000 } } },
  ],
  ["additional properties 'replica' not allowed", { edge: { replica: 3 } }],
  ["additional properties 'replica' not allowed", { trial: { postgres: { replica: 3 } } }],
  ["additional properties 'uri' not allowed", { global: { entryProbe: { uri: 'https://a' } } }],
  ["additional properties 'bodySize' not allowed", { nginx: { bodySize: '1m' } }],
  ["missing property 'enabled'", { user: { replicaCount: 3 } }],
  ['but ingress.hosts is empty', { ingress: { enabled: true } }],
  [
    'the NetworkPolicy of users would block the controller',
    { ingress: { enabled: true, hosts: [{ host: 'a' }] } },
  ],
])('the platform rejects values that cannot work: %s', (message, values) => {
  expect(charts.errorOf('platform', values)).toContain(message);
});

test.each([
  ['a'.repeat(44), 'is too long for the names of its objects: expected 43 characters or fewer'],
  ['users-catalog', 'would be the name of catalog and users'],
])('the platform rejects the release name %s', (release, message) => {
  expect(charts.helm(['template', release, 'platform']).stderr).toContain(message);
});
