import path from 'node:path';

import { type AnyVariables, readConfig } from '@fw/service';
import { describe, expect, test } from 'vitest';

import {
  charts,
  EVERYTHING,
  NEEDED,
  only,
  PROGRESSIVE,
  podOf,
  SHARED,
  type Values,
} from './render.ts';

const renderUsers = (values: Values = {}) => charts.render('users', { ...SHARED.users, ...values });

/** The error of rendering `chart`; empty if it renders. */
function errorOf(chart: string, values: Values): string {
  const { status, stderr } = charts.helm(['template', 'fw', chart, '--values', '-'], values);
  return status === 0 ? '' : stderr;
}

describe.each([
  ['a service', (values: Values) => renderUsers(values)],
  ['a service of the platform', (values: Values) => charts.render('platform', { users: values })],
])('a value of %s replaces a nested default of the library:', (_, render) => {
  const pod = (values: Values) => podOf(render(values), 'fw-users');

  test('false', () => {
    const objects = render({ serviceAccount: { create: false } });

    expect(podOf(objects, 'fw-users').serviceAccountName).toBe('default');
  });

  test('0', () => {
    expect(pod({ config: { DRAIN_DELAY_MS: 0 } }).terminationGracePeriodSeconds).toBe(34);
    expect(pod({ preStopSleepSeconds: 0 }).containers[0]).not.toHaveProperty('lifecycle');
  });

  test('an empty list', () => {
    const objects = render({ networkPolicy: { monitoringFrom: [] } });

    expect(only(objects, 'NetworkPolicy', 'fw-users').spec.ingress).toHaveLength(1);
    expect(pod({ topologySpreadConstraints: [] })).not.toHaveProperty('topologySpreadConstraints');
  });

  test('null, which removes the key', () => {
    const { containers } = pod({
      resources: { requests: { cpu: null } },
      readinessProbe: { httpGet: null, exec: { command: ['true'] } },
    });

    expect(containers[0].resources.requests).not.toHaveProperty('cpu');
    expect(containers[0].resources.requests).toHaveProperty('memory');
    expect(containers[0].readinessProbe).toEqual({
      ...{ exec: { command: ['true'] }, periodSeconds: 2, timeoutSeconds: 2, failureThreshold: 2 },
    });
  });
});

test('updateStrategy, minReadySeconds, envFrom, sidecars, paths and extraObjects reach the objects', () => {
  const objects = renderUsers({
    updateStrategy: { rollingUpdate: { maxSurge: 3 } },
    minReadySeconds: 7,
    envFrom: [{ secretRef: { name: 'keys' } }],
    extraInitContainers: [{ name: 'proxy', restartPolicy: 'Always' }],
    paths: ['/{{ .Release.Name }}/people'],
    ingress: { enabled: true, hosts: [{ host: 'api.example.org' }] },
    extraObjects: [
      { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: '{{ .Release.Name }}-map' } },
      'kind: Role\napiVersion: rbac.authorization.k8s.io/v1\nmetadata: { name: {{ .Chart.Name }} }',
    ],
  });
  const { spec } = only(objects, 'Deployment');
  const { containers, initContainers } = spec.template.spec;
  const [sidecar, migration] = initContainers;

  expect(spec).toMatchObject({
    minReadySeconds: 7,
    strategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: 3 } },
  });
  // The migration uses a proxy of the database too.
  expect([sidecar.restartPolicy, migration.args[0]]).toEqual(['Always', 'migrate']);
  for (const { envFrom } of [...containers, migration]) {
    expect(envFrom).toEqual([
      { configMapRef: { name: 'fw-users' } },
      { secretRef: { name: 'keys' } },
    ]);
  }
  expect(only(objects, 'Ingress').spec.rules[0].http.paths[0].path).toBe('/fw/people');
  expect(only(objects, 'ConfigMap', 'fw-map')).toBeDefined();
  expect(only(objects, 'Role', 'users')).toBeDefined();
});

test('a security context adds settings', () => {
  const podSecurityContext = {
    ...{ runAsUser: 1_000_680_000, fsGroup: 2_000, seccompProfile: { type: 'Localhost' } },
    ...{ seLinuxOptions: { level: 's0:c1,c2' }, appArmorProfile: { type: 'RuntimeDefault' } },
  };
  const objects = charts.render('users', { podSecurityContext });

  expect(podOf(objects, 'fw-users').securityContext).toEqual({
    ...{ ...podSecurityContext, runAsNonRoot: true },
    fsGroupChangePolicy: 'OnRootMismatch',
  });
});

describe.each([
  ['a service', 'users', (pod: Values) => pod],
  ['a service of the platform', 'platform', (users: Values) => ({ users })],
  ['the edge', 'platform', (edge: Values) => ({ edge })],
  ['PostgreSQL', 'platform', (postgres: Values) => ({ postgres })],
  ['Valkey', 'platform', (valkey: Values) => ({ valkey })],
])('the security context of %s cannot weaken Pod Security "restricted":', (_, chart, valuesOf) => {
  test.each<[string, unknown]>([
    ['runAsUser', 0],
    ['runAsNonRoot', false],
    ['seccompProfile', { type: 'Unconfined' }],
    ['seccompProfile', {}],
    ['appArmorProfile', { type: 'Unconfined' }],
    ['seLinuxOptions', { type: 'spc_t' }],
    ['seLinuxOptions', { level: 's0', user: 'system_u' }],
    ['windowsOptions', { hostProcess: true }],
    ['sysctls', [{ name: 'kernel.msgmax', value: '65536' }]],
    ['privileged', true],
  ])('%s %j is rejected', (name, value) => {
    const error = errorOf(chart, valuesOf({ podSecurityContext: { [name]: value } }));

    expect(error).toMatch(
      new RegExp(`podSecurityContext\\.${name} (is .*does not|may weaken).*: expected [\\w ,]+\\n`),
    );
  });
});

describe.each(['no', 'null', '1e3', '012'])(
  'a text that YAML 1.1 reads as another type, %s, remains a text as',
  (text) => {
    /** All objects, without what is randomly generated and its checksums. */
    const jsonOf = (objects: unknown) =>
      JSON.stringify(objects).replaceAll(/\b\w{40}\b|(?<="checksum\/\w+":")\w+/g, '');

    test.each<[string, (name: string) => unknown]>([
      [
        'the name of a release and a namespace',
        (name) =>
          (
            [
              ['users', { ...SHARED.users, ...EVERYTHING }],
              ['users', { ...SHARED.users, ...PROGRESSIVE }],
              ['platform', {}],
            ] as const
          ).map(([chart, values]) =>
            charts.render(chart, values, { release: name, namespace: name }),
          ),
      ],
      [
        'the names of objects',
        (name) =>
          renderUsers({
            ...EVERYTHING,
            ...{ fullnameOverride: name, priorityClassName: name, serviceAccount: { name } },
            ingress: {
              enabled: true,
              className: name,
              controllerNamespace: name,
              hosts: [{ host: 'api.example.org' }],
            },
            store: { type: 'postgres', postgres: { existingSecret: { name } } },
            podLabels: { name },
          }),
      ],
      [
        'names in the platform',
        (name) =>
          charts.render('platform', {
            edge: { priorityClassName: name, tls: { secretName: name } },
            postgres: { existingSecret: name, storage: { existingClaim: name } },
            valkey: { existingSecret: name },
          }),
      ],
    ])('%s', (_, render) => {
      expect(jsonOf(render(text))).toBe(jsonOf(render('zzzzzz')).replaceAll('zzzzzz', text));
    });
  },
);

test.each(['1.0.0-', '1.0.0_', '1.0.0.', '_1.0.0', `${'a'.repeat(62)}-b`, `${'a'.repeat(61)}.-b`])(
  'the tag %s becomes a valid label',
  (tag) => {
    for (const { metadata } of renderUsers({ image: { tag } })) {
      const version = metadata.labels?.['app.kubernetes.io/version'];
      if (version) expect(version).toMatch(/^(?=.{1,63}$)[A-Za-z0-9]([\w.-]*[A-Za-z0-9])?$/);
    }
  },
);

test.each([
  ['a variable', { config: { LOG_LEVEL: 'debug' } }, 'checksum/config'],
  ['a secret', { jwt: { secret: 'another secret, thirty-two of them' } }, 'checksum/secrets'],
])('pods roll after a change of %s, and of nothing else', (_, values, annotation) => {
  const annotationsOf = (more: Values) =>
    only(charts.render('reports', { ...SHARED.reports, ...more }), 'Deployment').spec.template
      .metadata.annotations;
  const hosts = [{ host: 'api.example.org' }];

  expect(annotationsOf(values)[annotation]).not.toBe(annotationsOf({})[annotation]);
  expect(annotationsOf({ ingress: { enabled: true, hosts } })).toEqual(annotationsOf({}));
});

describe('config', () => {
  /** What a service reads from the variables of its chart. */
  async function readVariables(name: string, config: Values, more: Values = {}) {
    const file = path.resolve(import.meta.dirname, `../../../services/${name}/src/config.ts`);
    const { VARIABLES }: { VARIABLES: AnyVariables } = await import(file);
    const { data } = only(charts.render(name, { ...NEEDED[name], config, ...more }), 'ConfigMap');
    return readConfig(VARIABLES, data);
  }

  test.each(Object.keys(NEEDED))(
    'the service %s accepts all variables of its chart',
    async (name) => {
      const config = {
        LOG_LEVEL: 'debug',
        V1_SUNSET: '2027-12-31',
        OTEL_EXPORTER_OTLP_ENDPOINT: '',
      };

      expect(await readVariables(name, config)).toMatchObject({
        ...{ HOST: '0.0.0.0', LOG_FORMAT: 'json', LOG_LEVEL: 'debug' },
      });
    },
  );

  test.each([
    [10_485_760, '10485760'],
    [0.25, '0.25'],
    [0.000_01, '0.00001'],
    [-1.5, '-1.5'],
    [0, '0'],
    [true, 'true'],
    ['007', '007'],
  ])('the value %j is the variable "%s"', (value, text) => {
    const { data } = only(renderUsers({ config: { ANY: value } }), 'ConfigMap');

    expect(data.ANY).toBe(text);
  });

  test('a misspelled variable, and one of another service, end the start of the service', async () => {
    await expect(
      readVariables('users', { LOG_LEVLE: 'debug', RATE_LIMIT_FREE: 5 }),
    ).rejects.toThrow(
      'LOG_LEVLE is not known: did you mean LOG_LEVEL?; RATE_LIMIT_FREE is not a variable',
    );
    await expect(
      readVariables('catalog', {}, { jwt: { required: true, jwksUrl: 'https://a' } }),
    ).rejects.toThrow('JWT_ISSUER is not a variable');
  });
});

test.each([
  ['an unknown key', { replica: 2 }, "additional properties 'replica' not allowed"],
  ['a nested one', { store: { sqlite: { sise: '1Gi' } } }, "at '/store/sqlite': additional"],
  ['an invalid variable', { config: { port: 3000 } }, "invalid propertyName 'port'"],
  [
    'a variable that another value sets',
    { config: { JWT_ISSUER: 'https://id.example.org' } },
    "config/JWT_ISSUER': value must be 'not set here, but by jwt.issuer'",
  ],
  [
    'a variable of the chart',
    { config: { PORT: 3000 } },
    "config/PORT': value must be 'not set: the chart sets it'",
  ],
  ['a strategy', { progressiveDelivery: { strategy: 'linear' } }, "'blueGreen', 'canary'"],
  ['no time limit', { config: { REQUEST_TIMEOUT_MS: 0 } }, 'minimum: got 0, want 1'],
])('the schema rejects %s', (_, values, message) => {
  expect(errorOf('users', values)).toContain(message);
  expect(errorOf('platform', { users: values })).toContain(message);
});

const POSTGRES = { type: 'postgres', postgres: { url: 'postgres://u:p@db/users' } };
const ROUTE = { enabled: true, parentRefs: [{ name: 'public' }] };
const HOSTS = [{ host: 'a.example.org' }, { host: 'b.example.org' }];
const canaryOf = (canary: Values) => ({ ...ADDRESS, strategy: 'canary', canary });
const ADDRESS = { enabled: true, prometheus: { address: 'http://prometheus:9090' } };

test.each<[string, string, Values]>([
  ['users', 'replicaCount is 2, but store.type sqlite keeps the data in one', { replicaCount: 2 }],
  ['users', 'autoscaling.enabled is true, but store.type', { autoscaling: { enabled: true } }],
  ['users', 'progressiveDelivery.enabled is true, but store', { progressiveDelivery: ADDRESS }],
  ['reports', 'rateLimit.store memory counts in each pod', { ...NEEDED.reports, replicaCount: 2 }],
  [
    'users',
    'store.sqlite.ephemeral and store.sqlite.existingClaim are both set',
    { store: { sqlite: { ephemeral: true, existingClaim: 'old' } } },
  ],
  [
    'users',
    'store.postgres.caSecret.name is set, but store.postgres.url does not use it',
    {
      store: { type: 'postgres', postgres: { url: 'postgres://a@b/c', caSecret: { name: 'ca' } } },
    },
  ],
  ['users', 'store.postgres: expected url or existing', { store: { type: 'postgres' } }],
  ['reports', 'jwt: expected secret, existingSecret.name or jwksUrl, but none is set', {}],
  [
    'users',
    'terminationGracePeriodSeconds is 20, which would interrupt requests: preStop (5 s), drain delay (1000 ms), idle connections (5000 ms), the longest request (30000 ms), closing (2000 ms) and a margin (2 s) need 45 s',
    { terminationGracePeriodSeconds: 20, config: { BODY_TIMEOUT_MS: 30_000 } },
  ],
  ['users', 'memory is 64Mi, and the heap', { resources: { limits: { memory: '64Mi' } } }],
  ['users', 'resources.limits.memory is not set', { resources: null }],
  ['users', 'the NetworkPolicy would block the gateway', { httpRoute: ROUTE }],
  [
    'users',
    'the NetworkPolicy would block the controller',
    { ingress: { enabled: true, controller: 'none', hosts: HOSTS } },
  ],
  [
    'users',
    'ServiceUnavailable would fire permanently',
    { metrics: { prometheusRule: { enabled: true } } },
  ],
  ['users', 'but entryProbe.url is empty', { entryProbe: { enabled: true } }],
  [
    'users',
    'progressiveDelivery.prometheus.address is empty',
    { store: POSTGRES, progressiveDelivery: { enabled: true } },
  ],
  [
    'users',
    'progressDeadlineSeconds is 89, too early for a version that works: expected 90 or more',
    { store: POSTGRES, progressiveDelivery: { ...ADDRESS, progressDeadlineSeconds: 89 } },
  ],
  [
    'users',
    'progressiveDelivery.canary.weights contains 10, 25, but replicaCount 3 divides the requests: expected only 33, 67, 100, or a router',
    { store: POSTGRES, replicaCount: 3, progressiveDelivery: canaryOf({ weights: [10, 25, 67] }) },
  ],
  [
    'users',
    'strategy is canary and autoscaling.enabled is true',
    { store: POSTGRES, autoscaling: { enabled: true }, progressiveDelivery: canaryOf({}) },
  ],
  [
    'users',
    'the NetworkPolicy would block Traefik',
    { store: POSTGRES, progressiveDelivery: canaryOf({ traefik: { enabled: true } }) },
  ],
])('the chart %s rejects values that would lose data or requests: %s', (chart, message, values) => {
  const error = errorOf(chart, values);

  expect(error).toContain(`${chart}: `);
  expect(error).toContain(message);
});
