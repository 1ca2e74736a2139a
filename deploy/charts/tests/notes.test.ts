import { spawnSync } from 'node:child_process';

import { request } from '@fw/core/testing';
import { expect, test } from 'vitest';

import { LIMITS } from '../../../services/reports/src/limits.ts';
import { newApp } from '../../../services/reports/src/testing.ts';
import { charts, type Values } from './render.ts';
import { merge, SHARED } from './values.ts';

test.each<[string, Values, string]>([
  ['in the values', {}, 'fw-reports -o jsonpath={.data.JWT_SECRET}'],
  [
    'in an existing Secret',
    {
      secrets: {
        JWT_SECRET: { existingSecret: '{{ .Release.Name }}-keys', key: 'the.key', value: '' },
      },
    },
    'fw-keys -o jsonpath={.data.the\\.key}',
  ],
])('the notes sign a token that reports accepts, with a secret %s', async (_, values, place) => {
  const args = ['install', 'fw', 'reports', '--dry-run=client', '--namespace=trial', '--values=-'];
  const { stdout: notes } = charts.helm(args, merge(SHARED.reports, values));
  const lines = notes.match(/^ {2}(SECRET|encode|SIGNED|TOKEN)\W.*$/gm) ?? [];
  const secret = 'a secret of thirty-two characters';
  // Replaces kubectl, and prints its arguments.
  const kubectl = `kubectl() { echo "$*" >&2; printf %s '${secret}' | base64; }`;

  const script = [kubectl, ...lines, 'echo "$TOKEN"'].join('\n');
  const { stdout, stderr } = spawnSync('bash', ['--norc', '-euc', script], { encoding: 'utf8' });

  expect(stderr.trim()).toBe(`--namespace trial get secret ${place}`);
  const app = newApp({ tokens: { secret, issuer: 'fw', audience: 'reports' } });
  const headers = { Authorization: `Bearer ${stdout.trim()}` };
  const response = await request(app, '/api/v2/reports', { headers });
  expect(response.status).toBe(200);
  expect(response.headers.get('ratelimit-limit')).toBe(String(LIMITS.free));
});
