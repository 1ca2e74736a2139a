import { expect, test } from 'vitest';

import { readConfig } from '../config/read-config.ts';
import {
  authVariables,
  requireTokenKey,
  tokenOptionsOf,
  tokenVariables,
} from './token-variables.ts';

const SECRET = 's'.repeat(32);
const JWKS = 'https://keys.example/jwks';
const VARIABLES = authVariables({ audience: 'notes' });

const read = (env: NodeJS.ProcessEnv) => readConfig(VARIABLES, env, requireTokenKey);
const readAlways = (env: NodeJS.ProcessEnv) =>
  readConfig(tokenVariables({ audience: 'notes' }), env, requireTokenKey);

test.each<[env: NodeJS.ProcessEnv, problem: string]>([
  [{}, 'JWT_SECRET is missing: expected it, JWT_SECRET_FILE or JWT_JWKS_URL'],
  [
    { JWT_SECRET: SECRET, JWT_JWKS_URL: JWKS },
    'JWT_SECRET and JWT_JWKS_URL are both set: expected one of them',
  ],
  [
    { JWT_JWKS_URL: JWKS, JWT_ALGORITHM: 'HS256' },
    'JWT_ALGORITHM must be one of RS256, ES256, EdDSA with JWT_JWKS_URL, got "HS256"',
  ],
  [
    { JWT_SECRET: SECRET, JWT_ALGORITHM: 'RS256' },
    'JWT_ALGORITHM must be HS256 with JWT_SECRET, got "RS256"',
  ],
  [{ JWT_SECRET: 'short' }, 'JWT_SECRET must have at least 32 bytes'],
])('with AUTH=required, or without a choice, %j is an error', (env, problem) => {
  expect(() => read({ ...env, AUTH: 'required' })).toThrow(new Error(problem));
  expect(() => readAlways(env)).toThrow(new Error(problem));
});

test.each<[env: NodeJS.ProcessEnv, problem: string]>([
  [{ JWT_SECRET: SECRET }, 'JWT_SECRET is set, but AUTH is "none": expected AUTH=required'],
  [{ JWT_JWKS_URL: JWKS }, 'JWT_JWKS_URL is set, but AUTH is "none": expected AUTH=required'],
  [{ AUTH: 'yes' }, 'AUTH must be one of none, required, got "yes"'],
])('a key that protects nothing is an error: %j', (env, problem) => {
  expect(() => read(env)).toThrow(new Error(problem));
});

test('without AUTH no key is needed, and an issuer and an audience change nothing', () => {
  const env = { JWT_ISSUER: 'login', JWT_AUDIENCE: 'all', JWT_ALGORITHM: 'ES256' };

  expect(read(env)).toMatchObject({ AUTH: 'none', JWT_AUDIENCE: 'all' });
});

test.each<[env: NodeJS.ProcessEnv, options: object]>([
  [{ JWT_SECRET: SECRET }, { secret: SECRET, issuer: 'fw', audience: 'notes' }],
  [
    { JWT_JWKS_URL: JWKS, JWT_ISSUER: 'login', JWT_AUDIENCE: 'all' },
    { jwksUrl: JWKS, algorithms: ['RS256'], issuer: 'login', audience: 'all' },
  ],
  [
    { JWT_JWKS_URL: JWKS, JWT_ALGORITHM: 'EdDSA' },
    { jwksUrl: JWKS, algorithms: ['EdDSA'], issuer: 'fw', audience: 'notes' },
  ],
])('the options of bearerToken() follow from %j', (env, options) => {
  const { secret, ...others } = tokenOptionsOf(read({ ...env, AUTH: 'required' }));

  // A function: the file of the secret may change.
  const current = typeof secret === 'function' ? { secret: secret() } : {};
  expect({ ...others, ...current }).toEqual(options);
});
