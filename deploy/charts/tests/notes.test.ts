import { spawnSync } from 'node:child_process';

import { afterAll, expect, test } from 'vitest';

import { createJwtVerifier } from '../../../services/reports/src/auth/jwt.ts';
import { PLATFORMS } from './platform.ts';
import { packCharts, SHARED, type Values } from './render.ts';

const charts = packCharts();
afterAll(() => charts[Symbol.dispose]());

const notesOf = (chart: string, values: Values) =>
  charts
    .helm(
      ['install', 'fw', chart, '--dry-run=client', '--namespace', 'trial', '--values', '-'],
      values,
    )
    .stdout.split('NOTES:\n')[1] ?? '';

test('the notes print the addresses, and lines to copy', () => {
  const notes = notesOf('users', {
    ...SHARED.users,
    ingress: { enabled: true, host: 'api.example.org' },
  });

  expect(notes).toContain('http://fw-users.trial');
  expect(notes).toContain('http://api.example.org/api/v2/users');
  expect(notes).toContain('port-forward service/fw-users 8080:80');
  expect(notes).toMatch(/^ {2}curl -X POST http:\/\/localhost:8080\/api\/v2\/users/m);
  expect(notes).toMatch(/^ {2}helm test fw --namespace trial$/m);
});

test('the notes name who may call, where a policy asks', () => {
  const sentence = 'for pods of this namespace labelled fw/calls-users: "true"';

  expect(notesOf('users', {})).toContain(sentence);
  expect(notesOf('users', { networkPolicy: { enabled: false } })).not.toContain(sentence);
});

test.each([
  ['one of values', {}, 'fw-reports', 'JWT_SECRET'],
  [
    'one that is there',
    { jwt: { secret: '', existingSecret: { name: '{{ .Release.Name }}-keys', key: 'the.key' } } },
    'fw-keys',
    'the\\.key',
  ],
])('the notes sign a token that reports takes, with a secret: %s', async (_, values, name, key) => {
  const notes = notesOf('reports', { ...SHARED.reports, ...values });
  const lines = notes.match(/^ {2}(SECRET|encode|SIGNED|TOKEN)\W.*$/gm) ?? [];
  const secret = 'a secret of thirty-two characters';
  // In place of the cluster, it says what it was asked for, too.
  const kubectl = `kubectl() { echo "$*" >&2; printf %s '${secret}' | base64; }`;

  const { stdout, stderr } = spawnSync(
    'bash',
    ['-euc', [kubectl, ...lines, 'echo "$TOKEN"'].join('\n')],
    { encoding: 'utf8' },
  );

  expect(lines).toHaveLength(4);
  expect(stderr.trim()).toBe(`--namespace trial get secret ${name} -o jsonpath={.data.${key}}`);
  const verify = createJwtVerifier({ keys: { secret }, issuer: 'fw', audience: 'reports' });
  expect(await verify(stdout.trim())).toMatchObject({ id: 'ada', tier: 'free' });
});

test('the notes leave the token to whoever has the keys, where they stand at an address', () => {
  const notes = notesOf('reports', { jwt: { jwksUrl: 'https://keys.example.org/jwks' } });

  expect(notes).toContain('made for reports, with a key of https://keys.example.org/jwks');
  expect(notes).not.toContain('openssl');
});

test('the notes say where reports gets its figures', () => {
  expect(notesOf('reports', SHARED.reports ?? {})).toContain(
    'Figures come from http://fw-users and http://fw-catalog',
  );
});

test.each([
  [
    'the end of ingress-nginx',
    'ingress-nginx has had no fixes',
    {
      ingress: { enabled: true, host: 'api.example.org', controller: 'ingress-nginx' },
    },
  ],
  [
    'data that are lost',
    'The data is lost with the pod',
    {
      replicas: 1,
      store: { type: 'sqlite', sqlite: { ephemeral: true }, postgres: { url: '' } },
    },
  ],
  ['a single pod', 'One pod serves', { replicas: 1 }],
  ['no policy', 'every pod of the cluster may call', { networkPolicy: { enabled: false } }],
  ['no resource metrics', 'no API for resource metrics', { autoscaling: { enabled: true } }],
  [
    'no custom metrics',
    'no API for custom metrics',
    {
      autoscaling: { enabled: true, requestsPerSecond: 100 },
    },
  ],
])('the notes of a service warn of %s', (_, sentence, values) => {
  expect(notesOf('users', { ...SHARED.users, ...values })).toContain(sentence);
  expect(notesOf('users', SHARED.users ?? {})).not.toContain(sentence);
});

test.each([
  ['the port of a node', { type: 'NodePort' }, "jsonpath='{.spec.ports[0].nodePort}'"],
  ['a balancer', { type: 'LoadBalancer', port: 8_000 }, "ingress[0].hostname}'):8000"],
  ['a forwarded port', { port: 8_000 }, 'port-forward service/fw-edge 8080:8000 &'],
])('the notes of a platform lead to the edge by %s', (_, service, way) => {
  expect(notesOf('platform', { edge: { service } })).toContain(way);
});

test.each([
  ['a certificate', 'BASE=https://api.example.org', PLATFORMS['f5-nginx']],
  ['no certificate', 'BASE=http://api.example.org', PLATFORMS['ingress-nginx']],
])('the notes of a platform lead to an ingress with %s', (_, base, values) => {
  expect(notesOf('platform', values)).toContain(base);
});

test('the notes of a platform that nothing leads into say so, and ask nothing of it', () => {
  const notes = notesOf('platform', { edge: { enabled: false } });

  expect(notes).toContain('Nothing leads in from outside');
  expect(notes).not.toContain('$BASE');
});

test.each([
  ['users', ['v2/users']],
  ['catalog', ['v2/catalog']],
])('the notes of a platform ask %s, where it is all that is installed', (service, asked) => {
  const others = ['users', 'catalog', 'reports'].filter((name) => name !== service);
  const off = Object.fromEntries(others.map((name) => [name, { enabled: false }]));
  const notes = notesOf('platform', off);

  expect(notes).toContain(`${service} is installed in trial, behind the edge fw-edge.`);
  expect([...notes.matchAll(/\$BASE\/api\/(v2\/\w+)/g)].map(([, path]) => path)).toEqual(asked);
});

test.each([
  ['tokens that can be read', 'speaks plain HTTP', { edge: { service: { type: 'NodePort' } } }],
  ['an edge of one pod', 'One pod is the edge', { edge: { replicas: 1 } }],
  ['data that go', 'All data is lost', { postgres: { storage: { ephemeral: true } } }],
])('the notes of a platform warn of %s', (_, sentence, values) => {
  expect(notesOf('platform', values)).toContain(sentence);
  expect(notesOf('platform', {})).not.toContain(sentence);
});
