import { describe, expect, test } from 'vitest';

import { charts, only, podOf, type Values } from './render.ts';
import { EVERYTHING, GATEWAY, merge, NEEDED, PROGRESSIVE, SHARED } from './values.ts';

const renderUsers = (values: Values = {}) => charts.render('users', merge(SHARED.users, values));

test.each([
  ['a service', (values: Values) => renderUsers(values)],
  ['a service of the platform', (users: Values) => charts.render('platform', { users })],
  ['all services', (global: Values) => charts.render('platform', { global })],
])('false, 0, an empty list and null of %s replace nested defaults', (_, render) => {
  const objects = render({
    ...{ serviceAccount: { create: false }, drainSeconds: 0, topologySpreadConstraints: [] },
    networkPolicy: { monitoringFrom: [] },
    resources: { requests: { cpu: null } },
    readinessProbe: { httpGet: null, exec: { command: ['true'] } },
  });
  const pod = podOf(objects, 'fw-users');
  const [{ resources, readinessProbe }] = pod.containers;

  expect(pod.serviceAccountName).toBe('default');
  expect(pod.terminationGracePeriodSeconds).toBe(27);
  expect(pod).not.toHaveProperty('topologySpreadConstraints');
  expect(only(objects, 'NetworkPolicy', 'fw-users').spec.ingress).toHaveLength(1);
  expect(Object.keys(resources.requests)).toEqual(['ephemeral-storage', 'memory']);
  expect(readinessProbe).toEqual({
    ...{ exec: { command: ['true'] }, initialDelaySeconds: 5 },
    ...{ periodSeconds: 2, timeoutSeconds: 2, failureThreshold: 2 },
  });
});

test('global precedes the values of a service, and these the defaults of the chart common', () => {
  const objects = charts.render('platform', {
    global: { minReadySeconds: 7, resources: { limits: { memory: '1Gi' } }, config: { A: 'all' } },
    users: { minReadySeconds: 3, priorityClassName: 'high', config: { A: 'users' } },
  });
  const settingsOf = (name: string) => {
    const { spec } = only(objects, 'Deployment', name);
    const [{ resources, env }] = spec.template.spec.containers;
    const { value } = env.find((one: { name: string }) => one.name === 'A');
    const { priorityClassName } = spec.template.spec;
    return [spec.minReadySeconds, priorityClassName, resources.limits.memory, value];
  };

  expect(settingsOf('fw-users')).toEqual([7, 'high', '1Gi', 'all']);
  expect(settingsOf('fw-catalog')).toEqual([7, undefined, '1Gi', 'all']);
});

test.each(['no', 'null', '1e3', '012'])(
  'a text that YAML 1.1 reads as another type, %s, remains a text',
  (text) => {
    const renderWith = (name: string) => {
      const place = { release: name, namespace: name };
      const names = {
        ...{ nameOverride: name, priorityClassName: name, serviceAccount: { name } },
        ...{ config: { ANY: name }, podLabels: { name }, commonLabels: { name } },
        ingress: { className: name },
        secrets: { DATABASE_URL: { existingSecret: name, key: name, value: '' } },
      };
      const platform = {
        edge: { priorityClassName: name },
        trial: { postgres: { persistence: { existingClaim: name } } },
      };
      const objects = [
        charts.render('users', merge(SHARED.users, EVERYTHING, names), place),
        charts.render('users', merge(SHARED.users, PROGRESSIVE), place),
        charts.render('platform', platform, place),
      ];
      // Without what is randomly generated and the checksums.
      return JSON.stringify(objects).replaceAll(/\b\w{40}\b|(?<="checksum\/\w+":")\w+/g, '');
    };

    expect(renderWith(text)).toBe(renderWith('zzzzzz').replaceAll('zzzzzz', text));
  },
);

test.each(['1.0.0-', '1.0.0_', '1.0.0.', '_1.0.0', `${'a'.repeat(62)}-b`, `${'a'.repeat(61)}.-b`])(
  'the tag %s becomes a valid label',
  (tag) => {
    for (const { metadata } of renderUsers({ image: { tag } })) {
      const version = metadata.labels?.['app.kubernetes.io/version'];
      expect(version).toMatch(/^(?=.{1,63}$)[A-Za-z0-9]([\w.-]*[A-Za-z0-9])?$/);
    }
  },
);

test('pods roll after a change of a variable or a secret, and of nothing else', () => {
  const templateWith = (values: Values) =>
    only(charts.render('reports', merge(SHARED.reports, values)), 'Deployment').spec.template;
  const others = { ...EVERYTHING, autoscaling: { enabled: false } };

  expect(templateWith({ config: { LOG_LEVEL: 'debug' } })).not.toEqual(templateWith({}));
  expect(templateWith({ secrets: { JWT_SECRET: { value: 'another' } } })).not.toEqual(
    templateWith({}),
  );
  expect(templateWith(others)).toEqual(templateWith({}));
});

test.each([
  ['an unknown key', { replica: 2 }, "additional properties 'replica' not allowed"],
  [
    'a nested one',
    { persistence: { sise: '1Gi' } },
    "persistence': additional properties 'sise' not allowed",
  ],
  ['an invalid variable', { config: { port: 3000 } }, "invalid propertyName 'port'"],
  ['a strategy', { progressiveDelivery: { strategy: 'linear' } }, "'blueGreen', 'canary'"],
  ['no time limit', { requestTimeoutSeconds: 0 }, 'minimum: got 0, want 1'],
  [
    'a secret as text',
    { secrets: { DATABASE_URL: 'postgres://a@b/c' } },
    'got string, want null or object',
  ],
])('the schema rejects %s', (_, values, message) => {
  for (const [chart, all] of [
    ...[
      ['users', values],
      ['platform', { users: values }],
      ['platform', { global: values }],
    ],
  ] as const) {
    expect(charts.errorOf(chart as string, all as Values)).toContain(message);
  }
});

const ROUTE = { enabled: true, parentRefs: [{ name: 'public' }] };
const DELIVERY = PROGRESSIVE.progressiveDelivery as Values;
const secretKey = (KEY: Values) => ({ secrets: { KEY } });
const egressTo = (rule: Values) => ({ networkPolicy: { egress: { mail: rule } } });

test.each<[string, string, Values]>([
  ['users', 'replicaCount is 2, but persistence.enabled keeps the data', { replicaCount: 2 }],
  ['users', 'autoscaling.enabled is true, but persistence', { autoscaling: { enabled: true } }],
  ['users', 'progressiveDelivery.enabled is true, but persistence', PROGRESSIVE],
  ['users', 'secrets.DATABASE_URL is set and persistence', withDatabase({ value: 'postgres://a' })],
  ['users', 'secrets.DATABASE_URL is not set and persistence', { persistence: { enabled: false } }],
  [
    'catalog',
    'the NetworkPolicy would block the database: expected its peers and ports in networkPolicy.egress.database',
    { persistence: { enabled: false }, ...withDatabase({ value: 'postgres://a' }) },
  ],
  [
    'users',
    'secrets.KEY has a value and an existing',
    secretKey({ value: 'a', existingSecret: 'b' }),
  ],
  ['users', 'secrets.KEY.key is empty', secretKey({ existingSecret: 'b' })],
  ['users', 'networkPolicy.egress.mail.to is empty', egressTo({ to: [], ports: [25] })],
  ['users', 'networkPolicy.egress.mail.ports is empty', egressTo({ to: [GATEWAY], ports: [] })],
  ['reports', 'without secrets.REDIS_URL each would count', { ...NEEDED.reports, replicaCount: 2 }],
  [
    'reports',
    'the NetworkPolicy would block the server',
    merge(NEEDED.reports, { secrets: { REDIS_URL: { value: 'redis://a' } } }),
  ],
  ['reports', 'expected either secrets.JWT_SECRET or config.JWT_JWKS_URL', {}],
  [
    'reports',
    'expected either secrets.JWT_SECRET or config.JWT_JWKS_URL',
    merge(NEEDED.reports, { config: { JWT_JWKS_URL: 'https://a' } }),
  ],
  [
    'reports',
    'networkPolicy.egress.jwks',
    { config: { JWT_JWKS_URL: 'https://keys.example.org' } },
  ],
  ...['users', 'catalog', 'reports'].map((chart): [string, string, Values] => [
    chart,
    'config.REQUEST_TIMEOUT_MS is 60000, but requestTimeoutSeconds, from which the grace period is computed, is 20',
    merge(NEEDED[chart], { config: { REQUEST_TIMEOUT_MS: 60_000 } }),
  ]),
  ['users', 'the NetworkPolicy would block the controller', { httpRoute: ROUTE }],
  ['users', 'but httpRoute.parentRefs is empty', { httpRoute: { enabled: true } }],
  ['users', 'but ingress.hosts is empty', { ingress: { enabled: true } }],
  ['users', 'ServiceUnavailable would fire', { metrics: { prometheusRule: { enabled: true } } }],
  ['users', 'but entryProbe.url is empty', { entryProbe: { enabled: true } }],
  [
    'users',
    'progressiveDelivery.prometheus.address is empty',
    merge(SHARED.users, { progressiveDelivery: { enabled: true } }),
  ],
  ['users', 'but test.command is empty', { ...PROGRESSIVE, test: { command: [] } }],
  [
    'users',
    'but progressiveDelivery.canary.trafficRouting is empty',
    { progressiveDelivery: { ...DELIVERY, strategy: 'canary' } },
  ],
  [
    'common',
    'expected the objectives of the service in the value slo',
    {
      image: { repository: 'shop', tag: '1.0.0' },
      metrics: { serviceMonitor: { enabled: true }, prometheusRule: { enabled: true } },
    },
  ],
])('the chart %s rejects values that would lose data or requests: %s', (chart, message, values) => {
  const error = charts.errorOf(chart, values);

  expect(error).toContain(`${chart}: `);
  expect(error).toContain(message);
});

function withDatabase(secret: Values): Values {
  return { secrets: { DATABASE_URL: secret } };
}

describe.each<[string, string, (context: Values) => Values]>([
  ['a service', 'users', (podSecurityContext) => ({ podSecurityContext })],
  ['all services', 'platform', (podSecurityContext) => ({ global: { podSecurityContext } })],
  ['the edge', 'platform', (podSecurityContext) => ({ edge: { podSecurityContext } })],
  [
    'PostgreSQL',
    'platform',
    (podSecurityContext) => ({ trial: { postgres: { podSecurityContext } } }),
  ],
  ['Valkey', 'platform', (podSecurityContext) => ({ trial: { valkey: { podSecurityContext } } })],
])('the security context of %s cannot weaken Pod Security "restricted":', (_, chart, valuesOf) => {
  test.each<[string, unknown]>([
    ['runAsUser', 0],
    ['runAsNonRoot', false],
    ['seccompProfile', { type: 'Unconfined' }],
    ['seccompProfile', { type: null }],
    ['appArmorProfile', { type: 'Unconfined' }],
    ['seLinuxOptions', { type: 'spc_t' }],
    ['windowsOptions', { hostProcess: true }],
    ['sysctls', [{ name: 'kernel.msgmax', value: '65536' }]],
  ])('%s %j is rejected', (name, value) => {
    expect(charts.errorOf(chart, valuesOf({ [name]: value }))).toMatch(
      new RegExp(`/podSecurityContext.*${name}|${name}.*not allowed`),
    );
  });
});

test.each<[string, unknown]>([
  ['privileged', true],
  ['allowPrivilegeEscalation', true],
  ['capabilities', { drop: [] }],
  ['capabilities', { drop: ['ALL'], add: ['SYS_ADMIN'] }],
  ['procMount', 'Unmasked'],
])('the security context of a container cannot have %s %j', (name, value) => {
  expect(charts.errorOf('users', { securityContext: { [name]: value } })).toContain(
    `/securityContext/${name}`,
  );
});
