import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { runToEnd } from '@fw/service/testing';
import {
  startTestPostgres,
  startTestService,
  testMissingCertificate,
} from '@fw/service/testing/vitest';
import { expect, test } from 'vitest';

import { USERS_MIGRATIONS } from './store/postgres-migrations.ts';
import { USERS_FORMAT } from './store/sqlite-migrations.ts';
import { newFile } from './testing.ts';

const MAIN = new URL('./main.ts', import.meta.url);

const server = startTestPostgres();

test('the service creates and returns a user, and is ready', async () => {
  const { url, healthUrl } = await startTestService(MAIN, { DATABASE_FILE: newFile() });

  const created = await fetch(`${url}/api/v2/users`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ name: 'Ada', email: 'ada@example.com' }),
  });

  const read = await fetch(`${url}${created.headers.get('location')}`);
  expect(await read.json()).toMatchObject({ data: { name: 'Ada' } });
  expect((await fetch(`${healthUrl}/readyz`)).status).toBe(200);
});

test('a corrupt database file causes one line with its name and exit code 1, and is not changed', async () => {
  const DATABASE_FILE = newFile();
  const content = 'no longer a database'.repeat(1_000);
  writeFileSync(DATABASE_FILE, content);

  const { code, stderr } = await runToEnd(MAIN, { PORT: '0', HEALTH_PORT: '0', DATABASE_FILE });

  expect(code).toBe(1);
  expect(stderr).toMatch(/^[^\n]+\n$/);
  expect(stderr).toContain(
    `Cannot run users: Cannot open database "${DATABASE_FILE}": file is not a database`,
  );
  expect(readFileSync(DATABASE_FILE, 'utf8')).toBe(content);
  expect(readdirSync(join(DATABASE_FILE, '..'))).toEqual(['users.db']);
});

test('a ready service has open connections to PostgreSQL for the first requests', async () => {
  const DATABASE_URL = await server().createDatabase();
  const { healthUrl } = await startTestService(MAIN, { DATABASE_URL });

  const readiness = await fetch(`${healthUrl}/readyz`);
  const metrics = await (await fetch(`${healthUrl}/metrics`)).text();

  expect(readiness.status).toBe(200);
  expect(metrics).toMatch(/^db_pool_connections\{pool="users",state="idle".*\} 4$/m);
});

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

test('migrate without PostgreSQL prints one line without the password and exits with 1', async () => {
  const DATABASE_URL = 'postgres://users:secret-word@127.0.0.1:1/users';

  const { code, stderr } = await runToEnd(MAIN, { DATABASE_URL }, ['migrate']);

  expect(code).toBe(1);
  expect(stderr).toMatch(/^Cannot run users: [^\n]+\n$/);
  expect(stderr).not.toContain('secret-word');
});

testMissingCertificate('users', MAIN);
