import { runToEnd } from '@fw/service/testing';
import { startTestPostgres, startTestService } from '@fw/service/testing/vitest';
import { expect, test } from 'vitest';

import {
  claimsOf,
  ISSUER,
  SECRET,
  sign,
} from '../../../framework/middleware/src/testing/tokens.ts';
import { USERS_MIGRATIONS } from './store/postgres-migrations.ts';
import { USERS_FORMAT } from './store/sqlite-migrations.ts';
import { newFile } from './testing.ts';

const MAIN = new URL('./main.ts', import.meta.url);

const server = startTestPostgres();

test.each([
  ['PostgreSQL', USERS_MIGRATIONS, async () => ({ DATABASE_URL: await server().createDatabase() })],
  ['SQLite', USERS_FORMAT.migrations, async () => ({ DATABASE_FILE: newFile() })],
])(
  'migrate creates the tables in %s, a line for each migration',
  async (_, migrations, newVariables) => {
    const variables = await newVariables();
    const migrate = () => runToEnd(MAIN, variables, ['migrate']);
    const messagesOf = ({ stdout }: { readonly stdout: string }) =>
      stdout
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line).message);

    const [first, second] = [await migrate(), await migrate()];

    expect([first, second]).toMatchObject([
      { code: 0, stderr: '' },
      { code: 0, stderr: '' },
    ]);
    expect(messagesOf(first)).toEqual(
      migrations.map((_, index) => `Applied migration ${index + 1}`),
    );
    expect(messagesOf(second)).toEqual(['Nothing to do: all migrations are applied']);
    const { url } = await startTestService(MAIN, variables);
    expect(await (await fetch(`${url}/api/v2/users`)).json()).toMatchObject({ data: [] });
  },
);

test('with AUTH=required users need a token; the figures do not', async () => {
  const service = await startTestService(MAIN, {
    ...{ DATABASE_FILE: newFile(), AUTH: 'required', JWT_SECRET: SECRET, JWT_ISSUER: ISSUER },
    RATE_LIMIT_INVALID_TOKENS: '1',
  });
  const token = await sign(claimsOf({ aud: ['users', 'reports'] }));
  const get = async (path: string, headers = {}) =>
    (await fetch(`${service.url}/api/${path}`, { headers })).status;

  expect(await get('v1/users')).toBe(401);
  expect(await get('v2/users/figures')).toBe(200);
  expect(await get('v2/users', { Authorization: `Bearer ${token}` })).toBe(200);
  expect(await get('v2/users', { Authorization: `Bearer ${await sign()}` })).toBe(401);
  expect(await get('v2/users', { Authorization: `Bearer ${token}` })).toBe(429);
  const metrics = await (await fetch(`${service.healthUrl}/metrics`)).text();
  service.signal('SIGTERM');
  const { stdout } = await service.ended;

  expect(metrics).toMatch(/limit="users-invalid-tokens",outcome="refused"\S* 1\n/);
  expect(stdout).toContain('"userId":"ada"');
  expect(stdout).not.toContain(token.slice(0, 20));
});

test.each([
  [{ AUTH: 'required' }, 'JWT_SECRET is missing'],
  [{ JWT_SECRET: SECRET }, 'JWT_SECRET is set, but AUTH is "none"'],
])('with %j the service does not start', async (variables, reason) => {
  const ending = await runToEnd(MAIN, { DATABASE_FILE: newFile(), ...variables });

  expect(ending.code).toBe(1);
  expect(ending.stderr).toMatch(/^Cannot run users: [^\n]+\n$/);
  expect(ending.stderr).toContain(reason);
});

const WITHOUT_CERTIFICATE = 'postgres://users:secret@127.0.0.1/db?sslrootcert=/missing/ca.pem';

test.each([
  [['migrate'], 'postgres://users:secret@127.0.0.1:1/users', ''],
  [
    [],
    WITHOUT_CERTIFICATE,
    'Cannot read the file "/missing/ca.pem" that DATABASE_URL names: ENOENT',
  ],
  [
    ['migrate', '--wait', '60'],
    WITHOUT_CERTIFICATE,
    'Cannot read the file "/missing/ca.pem" that DATABASE_URL names: ENOENT',
  ],
])(
  '%j with DATABASE_URL=%s prints one line without the password, and exits with 1',
  async (args, DATABASE_URL, reason) => {
    const { code, stdout, stderr } = await runToEnd(MAIN, { DATABASE_URL }, args);

    expect(code).toBe(1);
    expect(stdout).not.toContain('error');
    expect(stderr).toMatch(/^Cannot run users: [^\n]+\n$/);
    expect(stderr).toContain(reason);
    expect(stderr).not.toContain('secret');
  },
);
