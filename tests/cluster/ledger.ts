import assert from 'node:assert/strict';

import { readJson } from '@fw/service/testing';
import type { Api } from '../api/requests.ts';
import type { World } from './world.ts';

/** A user, as a client created it or as a row of the database. */
export interface User {
  readonly id: string;
  readonly email: string;
  readonly name: string;
}

/** Reads the acknowledged users from a log of k6: lines with `created <id> <email> <name>`. */
export function readLedger(log: string): User[] {
  const lines = log.matchAll(/ msg="created (\S+) (\S+) ([^"]+)"/g);
  return [...lines].map(([, id = '', email = '', name = '']) => ({ id, email, name }));
}

/**
 * Asserts that each acknowledged user has exactly one row, with the same content. Returns the number of rows of
 * requests without a response, such as those in flight when k6 stopped.
 */
export function assertRowsOf(acknowledged: readonly User[], rows: readonly User[]): number {
  const rowOf = new Map(rows.map((row) => [row.id, row]));
  const found = acknowledged.filter(({ id }) => rowOf.has(id));
  const different = found.filter(({ id, email, name }) => {
    const row = rowOf.get(id);
    return row?.email !== email || row.name !== name;
  });
  const writtenTwice = rows.length - new Set(rows.map(({ email }) => email)).size;
  assert.deepEqual(
    { missing: acknowledged.length - found.length, different: different.length, writtenTwice },
    { missing: 0, different: 0, writtenTwice: 0 },
    'rows of acknowledged users',
  );
  return rows.length - new Set(acknowledged.map(({ id }) => id)).size;
}

/** Rows of one query: kubectl returns at most 64 MiB. */
const ROWS = 100_000;

/** Reads every row of the table of users; `column` contains the name. */
export async function readUsers(world: World, column: string): Promise<User[]> {
  const users: User[] = [];
  for (let last = '0'; ; ) {
    const rows = await sql(
      world,
      `SELECT position, id, email, ${column} FROM users WHERE position > ${last} ORDER BY position LIMIT ${ROWS}`,
    );
    for (const row of rows) {
      const [position = '', id = '', email = '', name = ''] = row.split('|');
      users.push({ id, email, name });
      last = position;
    }
    if (rows.length < ROWS) return users;
  }
}

/**
 * Runs SQL in the PostgreSQL of the platform, with the role of users, and returns its rows; `|` separates their columns.
 *
 * @param database default: that of users
 */
export async function sql(
  { cluster, namespace }: World,
  text: string,
  database = 'users',
): Promise<string[]> {
  const options = '--no-align --tuples-only --quiet --set=ON_ERROR_STOP=1';
  const psql = `psql --host=127.0.0.1 --username=users --dbname=${database} ${options} --command "$1"`;
  const withPassword = `PGPASSWORD=$(cat /run/secrets/postgres/users-password) ${psql}`;
  const rows = await cluster.kubectl([
    ...['exec', 'fw-postgres-0', '--container=postgres', '--namespace', namespace],
    ...['--request-timeout=0', '--', 'sh', '-c', withPassword, 'sh', text],
  ]);
  return rows.trim().split('\n').filter(Boolean);
}

/** Creates a user, and returns the acknowledged id. */
export async function createUser(api: Api): Promise<string> {
  const email = `${crypto.randomUUID()}@example.org`;
  const response = await api.send('POST', '/api/v2/users', { name: 'Kept', email });
  return (await readJson(response, 201)).data.id;
}

/** Asserts that every user can be read; 16 requests at a time. */
export async function assertUsersExist(api: Api, ids: readonly string[]): Promise<void> {
  const rest = ids.values();
  const readNext = async () => {
    for (const id of rest) {
      const response = await api.get(`/api/v1/users/${id}`);
      assert.equal(response.status, 200, await response.text());
    }
  };
  await Promise.all(Array.from({ length: 16 }, readNext));
}
