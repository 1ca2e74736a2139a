import { startTestPostgres } from '@fw/service/testing/vitest';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';

import { openPostgresUserStore } from '../../services/users/src/store/postgres.ts';
import { readRenamingSql } from './rename-column.ts';

const SQL = readRenamingSql({ from: 'name', to: 'display_name' });

const server = startTestPostgres();

async function openUsers() {
  const url = await server().createDatabase();
  const store = openPostgresUserStore({ url, statementTimeoutMs: 20_000 });
  const client = new pg.Client(url);
  await client.connect();
  onTestFinished(async () => {
    await client.end();
    await store.close();
  });
  const time = new Date(0);
  const insert = (name: string) =>
    store.insert({ id: name, name, email: name, createdAt: time, updatedAt: time, version: 1 });
  const read = async (columns: string, where: string) => {
    const text = `SELECT ${columns} FROM users ${where} ORDER BY position`;
    return (await client.query({ text, rowMode: 'array' })).rows;
  };
  await store.migrate();
  return { store, client, insert, read };
}

test('the SQL of docs/operations/migrations.md renames a column while old and new code write', async () => {
  const { store, client, insert, read } = await openUsers();
  await insert('before');
  // More rows than are filled at once.
  await client.query(`INSERT INTO users (id, name, email, created_at, updated_at)
    SELECT 'many' || n, 'many', 'many' || n, 'epoch', 'epoch' FROM generate_series(1, 2500) AS n`);

  await client.query(SQL.add);
  await insert('old code');
  await client.query(SQL.fill);
  for (const text of SQL.forbidNull) await client.query(text);
  await client.query(`INSERT INTO users (id, display_name, email, created_at, updated_at)
    VALUES ('new', 'new code', 'new', 'epoch', 'epoch')`);
  await store.update('before', { name: 'changed by old code' }, new Date(1));
  await client.query("UPDATE users SET display_name = 'changed by new code' WHERE id = 'new'");

  const names = ['changed by old code', 'old code', 'changed by new code'];
  const others = "WHERE name <> 'many'";
  expect(await read('name, display_name', others)).toEqual(names.map((name) => [name, name]));
  expect((await client.query(SQL.compare)).rows).toEqual([{ count: '0' }]);
  await client.query(SQL.remove);
  expect(await read('display_name', "WHERE display_name <> 'many'")).toEqual(
    names.map((name) => [name]),
  );
});
