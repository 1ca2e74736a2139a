import { beforeAll, describe, expect, test } from 'vitest';

import { SERVICE_NAMES, SERVICES } from '../../../services/services.ts';
import {
  charts,
  namesOf,
  only,
  podOf,
  podsOf,
  type Rendered,
  selected,
  type Values,
} from './render.ts';

const HOSTS = [{ host: 'api.example.org' }];
const TLS = [{ secretName: 'certificate', hosts: ['api.example.org'] }];
const INGRESS = { ingress: { enabled: true, hosts: HOSTS, tls: TLS } };
const GATEWAY = { enabled: true, parentRefs: [{ name: 'public' }] };
const EDGE_TLS = { tls: { secretName: 'edge-tls' } };
const FROM = { from: [{ podSelector: { matchLabels: { app: 'gateway' } } }] };

const OFF = { enabled: false };
const OWN_DATABASE: Values = {
  store: { postgres: { existingSecret: { name: 'database' } } },
  networkPolicy: { databaseTo: [{ ipBlock: { cidr: '10.1.2.3/32' } }] },
};
const DATABASES = SERVICES.filter(({ store }) => store === 'database').map(({ name }) => name);

/** Complete values of the platform. */
const PLATFORMS: Readonly<Record<string, Values>> = {
  defaults: {},
  'own servers': {
    ...{ postgres: OFF, valkey: OFF, tokens: OFF },
    ...Object.fromEntries(DATABASES.map((name) => [name, OWN_DATABASE])),
    reports: {
      rateLimit: { redis: { existingSecret: { name: 'limits' } } },
      jwt: { existingSecret: { name: '' }, jwksUrl: 'https://keys.example.org' },
      networkPolicy: { redisTo: [] },
    },
  },
  'f5-nginx': { global: INGRESS },
  'a gateway': { global: { httpRoute: GATEWAY, networkPolicy: FROM } },
  'TLS at the edge': {
    edge: { ...EDGE_TLS, service: { type: 'LoadBalancer' } },
  },
  'users only': {
    ...Object.fromEntries(SERVICE_NAMES.slice(1).map((name) => [name, OFF])),
    ...{ valkey: OFF, tokens: OFF },
  },
};

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
      expect(metadata.name).toMatch(/^fw-/);
      expect(metadata.labels).toMatchObject({ 'app.kubernetes.io/instance': 'fw' });
    }
  });

  test('each selector matches the pods of one part, and contains no version', () => {
    for (const { kind, metadata, spec } of objects) {
      const selector =
        kind === 'Service'
          ? spec.selector
          : (spec?.selector?.matchLabels ?? spec?.podSelector?.matchLabels);
      if (!selector) continue;
      expect(selected(pods, selector), `${kind} ${metadata.name}`).toHaveLength(1);
      expect(Object.keys(selector)).not.toContain('app.kubernetes.io/version');
    }
  });

  test('every pod has a NetworkPolicy for ingress and egress', () => {
    const policies = objects.filter(({ kind }) => kind === 'NetworkPolicy');

    for (const pod of pods) {
      const around = policies.filter(
        ({ spec }) => selected([pod], spec.podSelector.matchLabels).length > 0,
      );
      expect(
        around.map(({ spec }) => spec.policyTypes),
        pod.name,
      ).toEqual([['Ingress', 'Egress']]);
      // An empty list of peers or ports would allow everything.
      for (const { to, ports } of around[0]?.spec.egress ?? []) {
        expect([to?.length ?? 1, ports?.length], pod.name).not.toContain(0);
      }
    }
  });
});

describe('the bundled servers', () => {
  let objects: Rendered[];
  beforeAll(() => {
    objects = charts.render('platform');
  });
  const secretOf = (name: string): Record<string, string> =>
    only(objects, 'Secret', name).stringData;

  test('have random passwords, which no other object and no argument contains', () => {
    const again = charts.render('platform');
    const others = JSON.stringify(objects.filter(({ kind }) => kind !== 'Secret'));

    for (const [name, key] of [
      ['fw-postgres', 'password'],
      ['fw-valkey', 'password'],
      ['fw-tokens', 'secret'],
    ] as const) {
      const password = secretOf(name)[key] ?? '';
      expect(password).toMatch(/^[A-Za-z0-9]{40}$/);
      expect(only(again, 'Secret', name).stringData[key]).not.toBe(password);
      expect(others).not.toContain(password);
    }
    const command: string[] = podOf(objects, 'fw-valkey').containers[0].command;
    expect(command.filter((one) => one.includes('PASSWORD'))).toHaveLength(1);
    expect(command[2]).toContain('requirepass');
  });

  test('have the addresses that the services read', () => {
    const { data } = only(objects, 'ConfigMap', 'fw-reports');
    const urls = [secretOf('fw-postgres').url, secretOf('fw-valkey').url, data.USERS_URL];

    for (const url of urls) expect(namesOf(objects, 'Service')).toContain(new URL(url).hostname);
    expect(new URL(secretOf('fw-postgres').url ?? '').password).toBe(
      secretOf('fw-postgres').password,
    );
  });
});

test('global.image and global.imagePullSecrets apply to every image', () => {
  const image = { registry: 'registry.example.org', pullPolicy: 'Always', tag: '7' };
  const global = { image, imagePullSecrets: [{ name: 'registry' }] };

  for (const { name, spec } of podsOf(charts.render('platform', { global }))) {
    expect(spec.imagePullSecrets, name).toEqual([{ name: 'registry' }]);
    for (const one of [...(spec.initContainers ?? []), ...spec.containers]) {
      expect(one.image).toMatch(/^registry\.example\.org\//);
      expect(one.imagePullPolicy).toBe('Always');
    }
  }
});

test('global.networkPolicy applies to the services, the edge and the tests', () => {
  const monitoringFrom = [{ podSelector: { matchLabels: { app: 'prometheus' } } }];
  const networkPolicy = { ...FROM, monitoringFrom, dnsPorts: [1053] };
  const objects = charts.render('platform', { global: { networkPolicy } });
  const having = (text: string) =>
    objects
      .filter((one) => one.kind === 'NetworkPolicy' && JSON.stringify(one).includes(text))
      .map(({ metadata }) => metadata.name)
      .sort();
  const services = SERVICE_NAMES.map((name) => `fw-${name}`).sort();

  expect(having('gateway')).toEqual(services);
  expect(having('prometheus')).toEqual(services);
  expect(having('1053')).toEqual(
    [...services, 'fw-edge'].flatMap((name) => [name, `${name}-test`]).sort(),
  );
});

test('global.entryProbe applies to every service, and the edge admits the peers of monitoring', () => {
  const peer = { podSelector: { matchLabels: { app: 'exporter' } } };
  const entryProbe = { enabled: true, url: 'https://api.example.org', labels: { release: 'a' } };
  const global = { entryProbe, networkPolicy: { monitoringFrom: [peer] } };
  const objects = charts.render('platform', { global, edge: { allowFrom: FROM.from } });

  const probes = objects.filter(({ kind }) => kind === 'Probe');
  expect(probes.flatMap(({ spec }) => spec.targets.staticConfig.static).sort()).toEqual(
    SERVICE_NAMES.map((name) => `https://api.example.org/docs/${name}`).sort(),
  );
  for (const { metadata } of probes) expect(metadata.labels).toMatchObject({ release: 'a' });
  const { from } = only(objects, 'NetworkPolicy', 'fw-edge').spec.ingress[0];
  expect(from.filter((one: object) => JSON.stringify(one).includes('exporter'))).toEqual([peer]);
});

test('f5-nginx gets one master with the certificate, and a minion per service and for the edge', () => {
  const objects = charts.render('platform', PLATFORMS['f5-nginx']);
  const ingresses = objects.filter(({ kind }) => kind === 'Ingress');
  const kindOf = ({ metadata }: Rendered) =>
    metadata.annotations?.['nginx.org/mergeable-ingress-type'];
  const [master, ...others] = ingresses.filter((one) => kindOf(one) === 'master');

  expect(others).toEqual([]);
  expect(master?.spec).toEqual({ ingressClassName: 'nginx', tls: TLS, rules: HOSTS });
  const minions = ingresses.filter((one) => kindOf(one) === 'minion');
  expect(minions).toHaveLength(SERVICE_NAMES.length + 1);
  for (const { spec } of minions) expect(spec).not.toHaveProperty('tls');
  expect(only(objects, 'Ingress', 'fw-edge').spec.rules[0].http.paths[0].path).toBe('/');
});

const MINE = { existingSecret: { name: 'mine' } };
const NO_UPSTREAM = 'but reports reads its figures from there';

test.each<[string, Values]>([
  [`users.enabled is false, ${NO_UPSTREAM}`, { users: OFF }],
  ['the name of catalog is changed', { catalog: { fullnameOverride: 'shop' } }],
  ['users.service.port is 8080, but reports calls port 80', { users: { service: { port: 8080 } } }],
  ['max_connections is 200', { postgres: { clients: [{ podSelector: {}, connections: 150 }] } }],
  ['postgres.enabled is false, but users keeps its data there', { postgres: OFF }],
  ['the NetworkPolicy of users allows only the bundled', { users: { store: { postgres: MINE } } }],
  ['valkey.maxMemory is 1gb, but', { valkey: { maxMemory: '1gb' } }],
  ['but the edge accepts bodies of 1m', { users: { config: { BODY_LIMIT: 2_000_000 } } }],
  ['would redirect it forever', { edge: EDGE_TLS, global: INGRESS }],
  ['valkey.enabled is false, but reports counts', { valkey: OFF }],
  ['tokens.enabled is false, but reports verifies', { tokens: OFF }],
  ["additional properties 'replica' not allowed", { edge: { replica: 3 } }],
  ["additional properties 'uri' not allowed", { global: { entryProbe: { uri: 'https://a' } } }],
  ["missing property 'enabled'", { user: { replicaCount: 3 } }],
])('the platform rejects values that cannot work: %s', (message, values) => {
  const { status, stderr } = charts.helm(['template', 'fw', 'platform', '--values', '-'], values);

  expect(status).not.toBe(0);
  expect(stderr).toContain(message);
});

test.each([
  ['a'.repeat(44), 'is too long for the names of its objects: expected 43 characters or fewer'],
  ['users-catalog', 'would be the name of users and catalog'],
])('the platform rejects the release name %s', (release, message) => {
  expect(charts.helm(['template', release, 'platform']).stderr).toContain(message);
});
