import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { newFolder, startTestPostgres, startTestService } from '@fw/service/testing/vitest';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';

import { requirePasswords } from '../../../framework/service/src/testing/passwords.ts';

const MAIN = new URL('./main.ts', import.meta.url);

const server = startTestPostgres();

/** Creates a folder of secrets; as the kubelet, `write` replaces all its files at once. */
function newSecret() {
  const folder = newFolder();
  let version = 0;
  return {
    file: join(folder, '..data', 'DATABASE_URL'),
    write(content: string) {
      const data = join(folder, `..${++version}`);
      mkdirSync(data);
      writeFileSync(join(data, 'DATABASE_URL'), content);
      symlinkSync(data, join(folder, '..data_tmp'));
      renameSync(join(folder, '..data_tmp'), join(folder, '..data'));
    },
  };
}

/** Creates and reads users from several clients until `stop`, which resolves with the statuses of the responses. */
function startLoad(usersUrl: string) {
  const statuses: number[] = [];
  let isStopped = false;
  const send = async (url: string, init?: RequestInit) => {
    const response = await fetch(url, init);
    statuses.push(response.status);
    return (await response.json()) as { data?: { id: string } };
  };
  const client = async () => {
    while (!isStopped) {
      const { data } = await send(usersUrl, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ name: 'Ada', email: `${crypto.randomUUID()}@example.com` }),
      });
      await send(`${usersUrl}/${data?.id}`);
    }
  };
  const done = Promise.all(Array.from({ length: 8 }, client));
  return {
    async stop() {
      isStopped = true;
      await done;
      return statuses;
    },
  };
}

test('no request fails while the role, then its password changes in PostgreSQL and in the file', {
  timeout: 60_000,
}, async () => {
  const url = await server().createDatabase();
  await requirePasswords(url);
  const admin = new pg.Client(url);
  await admin.connect();
  onTestFinished(() => admin.end());
  const as = (credentials: string) => url.replace('postgres@', `${credentials}@`);
  const connectionsOf = async (role: string) => {
    const text = 'SELECT FROM pg_stat_activity WHERE usename = $1';
    return (await admin.query(text, [role])).rowCount;
  };
  await admin.query("CREATE ROLE users LOGIN PASSWORD 'one'");
  await admin.query('GRANT CREATE ON SCHEMA public TO users');
  const secret = newSecret();
  secret.write(as('users:one'));
  const service = await startTestService(MAIN, { DATABASE_URL_FILE: secret.file });
  const load = startLoad(`${service.url}/api/v2/users`);
  await sleep(1_000);

  // 1. To a second role.
  await admin.query("CREATE ROLE users_b LOGIN PASSWORD 'two' IN ROLE users");
  await admin.query('ALTER ROLE users_b SET role = users');
  secret.write(as('users_b:two'));
  await expect.poll(() => connectionsOf('users'), { timeout: 20_000 }).toBe(0);
  await admin.query('ALTER ROLE users NOLOGIN');
  // 2. To another password of that role: first in PostgreSQL, then, after an invalid content, in the file.
  await admin.query("ALTER ROLE users_b PASSWORD 'three'");
  secret.write('');
  await sleep(1_500);
  secret.write(as('users_b:three'));
  const changes = () => service.output().split('PostgreSQL uses the changed address').length - 1;
  await expect.poll(changes, { timeout: 20_000 }).toBe(2);
  await sleep(500);

  const statuses = await load.stop();
  const { rows } = await admin.query('SELECT count(*) FROM users');
  expect(new Set(statuses)).toEqual(new Set([200, 201]));
  expect(Number(rows[0].count)).toBe(statuses.filter((status) => status === 201).length);
  expect(service.output()).toContain(
    'DATABASE_URL must be a URL that begins with postgres:// or postgresql://; its last valid value is used',
  );
  expect(service.output()).not.toMatch(/:(one|two|three)@/);
});
