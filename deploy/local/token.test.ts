import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { readConfig, type TokenConfig } from '@fw/service';
import { newFolder } from '@fw/service/testing/vitest';
import { jwtVerify } from 'jose';
import { expect, test } from 'vitest';

import { SERVICE_NAMES } from '../../services/services.ts';
import { issueToken, readOrCreateSecret, secretFile } from './token.ts';

const PROGRAM = path.join(import.meta.dirname, 'token.ts');

test('the secret is generated once per folder, readable only for the owner, and no draft remains', () => {
  const run = path.join(newFolder('fw-token-'), 'run');

  const secret = readOrCreateSecret(run);

  expect(Buffer.byteLength(secret)).toBeGreaterThanOrEqual(32);
  expect(readOrCreateSecret(run)).toBe(secret);
  expect(readOrCreateSecret(newFolder('fw-token-'))).not.toBe(secret);
  expect(fs.statSync(secretFile(run)).mode & 0o777).toBe(0o600);
  expect(fs.readdirSync(run)).toEqual([path.basename(secretFile(run))]);
});

test('a token contains user, tier and expiry, and is signed with the secret', async () => {
  const secret = readOrCreateSecret(newFolder('fw-token-'));

  const token = issueToken({ secret, user: 'ada', tier: 'pro', hours: 2 });

  const { payload, protectedHeader } = await jwtVerify(token, Buffer.from(secret));
  expect(protectedHeader).toEqual({ alg: 'HS256', typ: 'JWT' });
  expect(payload).toMatchObject({ iss: 'fw', sub: 'ada', tier: 'pro' });
  expect(payload.exp! - payload.iat!).toBe(7_200);
});

test.each(SERVICE_NAMES)('%s accepts a token with its default audience', async (name) => {
  const secret = readOrCreateSecret(newFolder('fw-token-'));
  const { VARIABLES } = await import(`../../services/${name}/src/config.ts`);
  const { JWT_ISSUER: issuer, JWT_AUDIENCE: audience } = readConfig<TokenConfig>(VARIABLES, {});

  const token = issueToken({ secret, user: 'ada', tier: 'free' });

  await jwtVerify(token, Buffer.from(secret), { issuer, audience });
});

test.each([
  [['--tier', 'pro'], '--user must be'],
  [['--user', 'a b'], '--user must be'],
  [['--user', 'ada', '--tier', 'gold'], '--tier must be free or pro'],
  [['--user', 'ada', '--hours', '0'], '--hours must be'],
])('the program rejects %j with one line', (args, reason) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, ...args], {
    encoding: 'utf8',
  });

  expect(status).toBe(1);
  expect(stdout).toBe('');
  expect(stderr).toMatch(/^[^\n]+\n$/);
  expect(stderr).toContain(reason);
});

test('the program signs with JWT_SECRET if it is set', async () => {
  const secret = 'a secret of thirty-two characters';
  const run = (JWT_SECRET: string) =>
    spawnSync(process.execPath, [PROGRAM, '--user', 'ada'], {
      encoding: 'utf8',
      env: { ...process.env, JWT_SECRET },
    });

  const { payload } = await jwtVerify(run(secret).stdout.trim(), Buffer.from(secret));

  expect(payload.sub).toBe('ada');
  expect(run('short').stderr).toBe('JWT_SECRET is too short: expected at least 32 bytes\n');
});
