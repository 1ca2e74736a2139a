import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { runToEnd, startService, type Variables } from '@fw/service/testing';
import { expect, onTestFinished, test } from 'vitest';

import { AUDIENCE, claimsOf, ISSUER, SECRET, sign } from './testing/tokens.ts';

const MAIN = new URL('./main.ts', import.meta.url);
const JWT = { JWT_ISSUER: ISSUER, JWT_AUDIENCE: AUDIENCE };

async function start(variables: Variables) {
  const service = await startService(MAIN, { DRAIN_DELAY_MS: '0', ...JWT, ...variables });
  onTestFinished(async () => {
    service.signal('SIGKILL');
    await service.ended;
  });
  return service;
}

function fileOf(content: string): string {
  const directory = mkdtempSync(join(tmpdir(), 'secret-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const file = join(directory, 'secret');
  writeFileSync(file, content);
  return file;
}

function get(url: string, token: string): Promise<Response> {
  return fetch(`${url}/api/v1/reports`, { headers: { Authorization: `Bearer ${token}` } });
}

test('the service knows tokens of JWT_SECRET, is ready, and ends on SIGTERM with exit code 0', async () => {
  const service = await start({ JWT_SECRET: SECRET });

  expect((await get(service.url, await sign())).status).toBe(200);
  expect((await get(service.url, await sign(claimsOf({ aud: 'users' })))).status).toBe(401);
  expect((await fetch(`${service.healthUrl}/readyz`)).status).toBe(200);

  service.signal('SIGTERM');
  expect(await service.ended).toMatchObject({ code: 0, stderr: '' });
});

test('the service knows tokens of the secret in JWT_SECRET_FILE', async () => {
  const service = await start({ JWT_SECRET_FILE: fileOf(`${SECRET}\n`) });

  expect((await get(service.url, await sign())).status).toBe(200);
});

test('the service starts and is ready while Redis and the address of the keys are away', async () => {
  const service = await start({
    JWT_JWKS_URL: 'http://127.0.0.1:1/keys',
    JWT_ALGORITHM: 'ES256',
    REDIS_URL: 'redis://127.0.0.1:1',
  });

  expect((await fetch(`${service.healthUrl}/readyz`)).status).toBe(200);
  expect((await get(service.url, await sign())).status).toBe(401);

  service.signal('SIGTERM');
  expect(await service.ended).toMatchObject({ code: 0, stderr: '' });
});

test.for([
  [{}, 'JWT_SECRET is missing: expected it, JWT_SECRET_FILE or JWT_JWKS_URL'],
  [{ JWT_SECRET: 'a secret of 24 bytes' }, 'JWT_SECRET must have at least 32 bytes'],
  [
    { JWT_SECRET: SECRET, JWT_JWKS_URL: 'http://127.0.0.1:1' },
    'JWT_SECRET and JWT_JWKS_URL are both set: expected one of them',
  ],
  [{ JWT_JWKS_URL: 'file:///secret' }, 'JWT_JWKS_URL must be a URL that begins with https://'],
  [{ JWT_JWKS_URL: 'https://keys.example', JWT_ALGORITHM: 'none' }, 'JWT_ALGORITHM must be one of'],
  [{ JWT_JWKS_URL: 'https://keys.example', JWT_ALGORITHM: 'HS256' }, 'JWT_ALGORITHM must be'],
  [{ JWT_SECRET: SECRET, REDIS_URL: 'http://:secret@redis.example' }, 'REDIS_URL must be a URL'],
  [{ JWT_SECRET: SECRET, PORT: '99999' }, 'PORT must be an integer from 0 to 65535'],
] as const)('with %j the service says what is wrong in one line', async ([variables, reason]) => {
  const ending = await runToEnd(MAIN, { PORT: '0', HEALTH_PORT: '0', ...variables });

  expect(ending.code).toBe(1);
  expect(ending.stderr).toMatch(/^Cannot run reports: [^\n]+\n$/);
  expect(ending.stderr).toContain(reason);
  expect(ending.stderr).not.toMatch(/a secret|:secret/);
});
