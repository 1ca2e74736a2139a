import type { User } from '@fw/users/src/user.ts';
import pg from 'pg';

import type { Place } from '../databases.ts';
import { openUserStore } from '../servers/user-store.ts';

/** The stores of the users service, and `pg` as one uses it who does not name statements. */
export const MEASURED_STORES = ['sqlite', 'postgres', 'unnamed pg'] as const;
export type MeasuredStore = (typeof MEASURED_STORES)[number];

/** What is asked of them; `create` looks whether the e-mail is taken. */
export const WORKS = ['insert', 'create', 'get'] as const;
export type Work = (typeof WORKS)[number];

/** Does each work for one user, and resolves once it is done for good. */
export type StoreUnderTest = Readonly<Record<Work, (user: User) => Promise<unknown>>>;

/** Opens a store, with its tables in it. */
export async function openStore(name: MeasuredStore, place: Place): Promise<StoreUnderTest> {
  const store = openUserStore(place);
  await store.migrate();
  if (name !== 'unnamed pg') {
    return {
      insert: (user) => store.insert(user),
      create: (user) => store.insertUnique(user),
      get: ({ id }) => store.find(id),
    };
  }
  await store.close();
  return openUnnamed(place);
}

const INSERT = `INSERT INTO users (id, name, email, claims_email, created_at, updated_at)
  VALUES ($1, $2, $3, $4, $5, $6)`;
const SELECT = `SELECT position, id, name, email, created_at, updated_at, version
  FROM users WHERE id = $1`;

/** One statement for each call, into the same tables. */
function openUnnamed(place: Place): StoreUnderTest {
  if (!('url' in place)) throw new TypeError('Cannot open pg on a file');
  const pool = new pg.Pool({ connectionString: place.url, max: 10 });
  const insert = ({ id, name, email, createdAt, updatedAt }: User, isUnique: boolean) =>
    pool.query(INSERT, [id, name, email, isUnique, createdAt, updatedAt]);
  return {
    insert: (user) => insert(user, false),
    create: (user) => insert(user, true),
    get: async ({ id }) => (await pool.query(SELECT, [id])).rows[0],
  };
}
