import { spawnSync } from 'node:child_process';

import { expect, test } from 'vitest';

import { createJwtVerifier } from '../../../services/reports/src/auth/jwt.ts';
import { charts, SHARED, type Values } from './render.ts';

const notesOf = (chart: string, values: Values) => {
  const args = [
    'install',
    'fw',
    chart,
    '--dry-run=client',
    '--namespace',
    'trial',
    '--values',
    '-',
  ];
  return charts.helm(args, values).stdout.split('NOTES:\n')[1] ?? '';
};

test('the notes contain addresses, example requests and warnings', () => {
  const ingress = { enabled: true, hosts: [{ host: 'api.example.org' }] };
  const notes = notesOf('users', { ...SHARED.users, ingress, replicaCount: 1 });

  for (const text of [
    'http://fw-users.trial (pods of this namespace with the label fw/calls-users: "true")',
    'http://api.example.org: /api/v1/users, /api/v2/users, /docs/users',
    'port-forward service/fw-users 8080:80',
    '  curl -X POST http://localhost:8080/api/v2/users',
    'fw-users:0.1.0, they pull it from Docker Hub, which does not have it',
    'There can be only one pod',
  ]) {
    expect(notes).toContain(text);
  }
});

test.each<[string, Values, string]>([
  ['in the values', {}, 'fw-reports -o jsonpath={.data.JWT_SECRET}'],
  [
    'in an existing Secret',
    { jwt: { existingSecret: { name: '{{ .Release.Name }}-keys', key: 'the.key' } } },
    'fw-keys -o jsonpath={.data.the\\.key}',
  ],
])('the notes sign a token that reports accepts, with a secret %s', async (_, values, place) => {
  const notes = notesOf('reports', { ...SHARED.reports, ...values });
  const lines = notes.match(/^ {2}(SECRET|encode|SIGNED|TOKEN)\W.*$/gm) ?? [];
  const secret = 'a secret of thirty-two characters';
  // Replaces kubectl, and prints its arguments.
  const kubectl = `kubectl() { echo "$*" >&2; printf %s '${secret}' | base64; }`;

  const script = [kubectl, ...lines, 'echo "$TOKEN"'].join('\n');
  const { stdout, stderr } = spawnSync('bash', ['--norc', '-euc', script], { encoding: 'utf8' });

  expect(stderr.trim()).toBe(`--namespace trial get secret ${place}`);
  const verify = createJwtVerifier({ keys: { secret }, issuer: 'fw', audience: 'reports' });
  expect(await verify(stdout.trim())).toMatchObject({ id: 'ada', tier: 'free' });
});
