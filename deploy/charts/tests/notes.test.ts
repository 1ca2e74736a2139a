import { spawnSync } from 'node:child_process';

import { expect, test } from 'vitest';

import { createJwtVerifier } from '../../../services/reports/src/auth/jwt.ts';
import { SERVICE_NAMES } from '../../../services/services.ts';
import { merge } from '../../local/cluster/values.ts';
import { PLATFORMS } from './platform.ts';
import { charts, SHARED, type Values } from './render.ts';

const notesOf = (chart: string, values: Values) =>
  charts
    .helm(
      ['install', 'fw', chart, '--dry-run=client', '--namespace', 'trial', '--values', '-'],
      values,
    )
    .stdout.split('NOTES:\n')[1] ?? '';

test('the notes contain the addresses and example requests', () => {
  const notes = notesOf('users', {
    ...SHARED.users,
    ingress: { enabled: true, hosts: [{ host: 'api.example.org' }] },
  });

  expect(notes).toContain('http://fw-users.trial');
  expect(notes).toContain('http://api.example.org/api/v2/users');
  expect(notes).toContain('port-forward service/fw-users 8080:80');
  expect(notes).toMatch(/^ {2}curl -X POST http:\/\/localhost:8080\/api\/v2\/users/m);
  expect(notes).toMatch(/^ {2}helm test fw --namespace trial$/m);
});

test('the notes of a minion leave the scheme to the master Ingress', () => {
  const addressOf = (ingress: Values) =>
    /Ingress: (.*)/.exec(
      notesOf('users', { ingress: { enabled: true, hosts: [{ host: 'a.example' }], ...ingress } }),
    )?.[1];

  expect(addressOf({ mergeable: true })).toBe(
    'http://a.example/api/v2/users (https if the master Ingress has a certificate)',
  );
  expect(addressOf({})).toBe('http://a.example/api/v2/users');
  expect(addressOf({ tls: [{ secretName: 'certificate' }] })).toBe(
    'https://a.example/api/v2/users',
  );
});

const SPLIT: Values = {
  weight: 975,
  others: [{ name: 'users-next', weight: 25, headers: { 'x-canary': 'always', 'x-team': '1' } }],
};
const GATEWAY: Values = { enabled: true, parentRefs: [{ name: 'public' }] };

test.each([
  ['a service', 'users', { httpRoute: { ...GATEWAY, ...SPLIT } }],
  ['the platform', 'platform', { global: { httpRoute: GATEWAY }, users: { httpRoute: SPLIT } }],
])('the notes of %s contain the split of the requests', (_, chart, values: Values) => {
  const global = { networkPolicy: { from: [{ namespaceSelector: {} }] } };
  const notes = notesOf(chart, merge({ global }, values));

  expect(notes).toContain(`remove its Service from httpRoute.others:

  fw-users: 97.5 %
  users-next: 2.5 %, and all requests with x-canary: always and x-team: 1
`);
  expect(notesOf(chart, {})).not.toContain('httpRoute.others');
});

test.each([
  [{ hostnames: ['*.example.org'] }, 'a-name.example.org'],
  [{}, 'the-address-of-your-gateway'],
])('the notes contain an address of the gateway with %j', (names, host) => {
  const httpRoute = { ...GATEWAY, ...names };
  const networkPolicy = { from: [{ namespaceSelector: {} }] };

  expect(notesOf('users', { httpRoute, networkPolicy })).toContain(
    `Gateway: https://${host}/api/v2/users (http if its listener has no certificate)`,
  );
  expect(notesOf('platform', { global: { httpRoute, networkPolicy } })).toContain(
    `BASE=https://${host}\n`,
  );
});

test('the notes name the edge as the entry point unless there is an ingress', () => {
  expect(notesOf('platform', {})).toContain('behind the edge fw-edge.');
  expect(notesOf('platform', PLATFORMS['f5-nginx'])).not.toContain('behind the edge');
});

test('the notes of the platform warn of a redirect to a port that no node has', () => {
  const warningOf = (tls: Values) =>
    notesOf('platform', {
      edge: { service: { type: 'NodePort' }, tls: { secretName: 'edge-tls', ...tls } },
    }).includes('where no node listens');

  expect(warningOf({})).toBe(true);
  expect(warningOf({ port: 30_443, nodePort: 30_443 })).toBe(false);
});

test('the notes name the pods that a NetworkPolicy allows', () => {
  const sentence = '(pods of this namespace with the label fw/calls-users: "true")';

  expect(notesOf('users', {})).toContain(sentence);
  expect(notesOf('users', { networkPolicy: { enabled: false } })).not.toContain(sentence);
});

test.each([
  ['in the values', {}, 'fw-reports', 'JWT_SECRET'],
  [
    'in an existing Secret',
    { jwt: { secret: '', existingSecret: { name: '{{ .Release.Name }}-keys', key: 'the.key' } } },
    'fw-keys',
    'the\\.key',
  ],
])(
  'the notes sign a token that reports accepts, with a secret %s',
  async (_, values, name, key) => {
    const notes = notesOf('reports', { ...SHARED.reports, ...values });
    const lines = notes.match(/^ {2}(SECRET|encode|SIGNED|TOKEN)\W.*$/gm) ?? [];
    const secret = 'a secret of thirty-two characters';
    // Replaces kubectl, and prints its arguments.
    const kubectl = `kubectl() { echo "$*" >&2; printf %s '${secret}' | base64; }`;

    const { stdout, stderr } = spawnSync(
      'bash',
      ['--norc', '-euc', [kubectl, ...lines, 'echo "$TOKEN"'].join('\n')],
      { encoding: 'utf8' },
    );

    expect(lines).toHaveLength(4);
    expect(stderr.trim()).toBe(`--namespace trial get secret ${name} -o jsonpath={.data.${key}}`);
    const verify = createJwtVerifier({ keys: { secret }, issuer: 'fw', audience: 'reports' });
    expect(await verify(stdout.trim())).toMatchObject({ id: 'ada', tier: 'free' });
  },
);

test('the notes sign no token if the public keys are at an address', () => {
  const notes = notesOf('reports', { jwt: { jwksUrl: 'https://keys.example.org/jwks' } });

  expect(notes).toContain('for reports, signed with a key from https://keys.example.org/jwks');
  expect(notes).not.toContain('openssl');
});

test('the notes name the services that reports calls', () => {
  expect(notesOf('reports', SHARED.reports ?? {})).toContain(
    'Statistics come from http://fw-catalog.',
  );
});

test.each([
  ['a service', 'users', { image: { registry: 'registry.example.org' } }],
  ['a service', 'users', { image: { repository: 'registry.example.org/fw-users' } }],
  ['a service', 'users', { image: { repository: 'localhost/fw-users' } }],
  ['a service', 'users', { image: { pullPolicy: 'Never' } }],
  ['the platform', 'platform', { global: { image: { registry: 'registry.example.org' } } }],
  ['the platform', 'platform', { global: { image: { pullPolicy: 'Never' } } }],
])('the notes of %s do not warn of Docker Hub: %s %j', (_, chart, values) => {
  expect(notesOf(chart, values)).not.toContain('Docker Hub');
});

test('the notes say which value sets the registry of images that Docker Hub does not have', () => {
  const registry = { image: { registry: 'registry.example.org' } };

  expect(notesOf('users', { image: { tag: 'dev' } })).toContain(
    '* Unless the nodes have the image fw-users:dev, they pull it from Docker Hub, which does not have it (ErrImagePull): set image.registry.',
  );
  expect(
    notesOf('platform', {
      global: { image: { tag: 'dev' } },
      ...Object.fromEntries(SERVICE_NAMES.map((name) => [name, registry])),
      users: {},
      reports: { image: { repository: 'local/fw-reports' } },
    }),
  ).toContain(
    '* Unless the nodes have the images fw-users:dev, local/fw-reports:dev, they pull them from Docker Hub, which does not have them (ErrImagePull): set users.image.registry, reports.image.registry, or global.image.registry for all images of the platform.',
  );
});

test.each([
  [
    'ingress-nginx',
    'ingress-nginx has had no fixes',
    {
      ingress: { enabled: true, hosts: [{ host: 'api.example.org' }], controller: 'ingress-nginx' },
    },
  ],
  [
    'temporary data',
    'The data is lost when the pod ends',
    {
      replicaCount: 1,
      store: { type: 'sqlite', sqlite: { ephemeral: true }, postgres: { url: '' } },
    },
  ],
  [
    'a minion',
    'once there is a master Ingress for api.example.org',
    { ingress: { enabled: true, hosts: [{ host: 'api.example.org' }], mergeable: true } },
  ],
  ['a single pod', 'There can be only one pod', { replicaCount: 1 }],
  [
    'a missing NetworkPolicy',
    'every pod of the cluster may call',
    { networkPolicy: { enabled: false } },
  ],
  ['missing resource metrics', 'no resource metrics API', { autoscaling: { enabled: true } }],
  [
    'missing custom metrics',
    'no custom metrics API',
    {
      autoscaling: { enabled: true, requestsPerSecond: 100 },
    },
  ],
])('the notes of a service warn of %s', (_, sentence, values) => {
  expect(notesOf('users', { ...SHARED.users, ...values })).toContain(sentence);
  expect(notesOf('users', SHARED.users ?? {})).not.toContain(sentence);
});

test.each([
  ['a node port', { type: 'NodePort' }, "jsonpath='{.spec.ports[0].nodePort}'"],
  ['a load balancer', { type: 'LoadBalancer', port: 8_000 }, "ingress[0].hostname}'):8000"],
  ['a forwarded port', { port: 8_000 }, 'port-forward service/fw-edge 8080:8000 &'],
])('the notes of the platform contain the address of the edge: %s', (_, service, way) => {
  expect(notesOf('platform', { edge: { service } })).toContain(way);
});

test.each([
  ['a node port', { type: 'NodePort' }, {}, 'BASE=https://$NODE:$(', 'ports[1].nodePort'],
  ['a fixed node port', { type: 'NodePort' }, { nodePort: 30_443 }, '', 'https://$NODE:30443\n'],
  ['a load balancer', { type: 'LoadBalancer' }, {}, 'BASE=https://$(', ".hostname}'):443\n"],
  ['a forwarded port', {}, {}, 'fw-edge 8443:443 &', 'BASE=https://localhost:8443\n'],
])(
  'the notes of the platform contain the address of an edge with TLS: %s',
  (_, service, tls, start, end) => {
    const values = { edge: { service, tls: { secretName: 'edge-tls', ...tls } } };

    const notes = notesOf('platform', values);

    expect(notes).toContain(start);
    expect(notes).toContain(end);
    expect(notes).not.toContain('plain HTTP');
  },
);

test.each([
  ['a certificate', 'BASE=https://api.example.org', PLATFORMS['f5-nginx']],
  ['no certificate', 'BASE=http://api.example.org', PLATFORMS['ingress-nginx']],
])('the notes of the platform contain the address of an ingress with %s', (_, base, values) => {
  expect(notesOf('platform', values)).toContain(base);
});

test('the notes of the platform set BASE once if there are several entry points', () => {
  const bases = notesOf('platform', PLATFORMS['f5-nginx']).match(/BASE=.*/g);

  expect(bases).toEqual(['BASE=https://api.example.org']);
});

test.each([
  ['a token of the generated secret', {}, true],
  [
    'no token if the public keys are at an address',
    { reports: { jwt: { existingSecret: { name: '' }, jwksUrl: 'https://keys.example.org' } } },
    false,
  ],
])('the notes of the platform sign %s', (_, values, isSigned) => {
  const notes = notesOf('platform', values);

  expect(notes.includes('A token for the user ada')).toBe(isSigned);
  expect(notes.includes('openssl')).toBe(isSigned);
  expect(notes).toContain('reports requires a token');
});

test('the notes of a platform without an entry point contain no requests', () => {
  const notes = notesOf('platform', { edge: { enabled: false } });

  expect(notes).toContain('Nothing is reachable from outside');
  expect(notes).not.toContain('$BASE');
});

test.each([
  ['users', ['v2/users']],
  ['catalog', ['v2/catalog']],
])('the notes of a platform with only %s contain only its requests', (service, asked) => {
  const others = SERVICE_NAMES.filter((name) => name !== service);
  const off = Object.fromEntries(others.map((name) => [name, { enabled: false }]));
  const notes = notesOf('platform', off);

  expect(notes).toContain(`${service} is installed in trial, behind the edge fw-edge.`);
  const paths = [...notes.matchAll(/\$BASE\/api\/(v2\/\w+)/g)].map(([, path]) => path);
  expect([...new Set(paths)]).toEqual(asked);
});

test.each([
  ['plain HTTP', 'uses plain HTTP', { edge: { service: { type: 'NodePort' } } }],
  ['an edge with one pod', 'The edge has only one pod', { edge: { replicaCount: 1 } }],
  ['temporary data', 'All data is lost', { postgres: { storage: { ephemeral: true } } }],
])('the notes of the platform warn of %s', (_, sentence, values) => {
  expect(notesOf('platform', values)).toContain(sentence);
  expect(notesOf('platform', {})).not.toContain(sentence);
});
