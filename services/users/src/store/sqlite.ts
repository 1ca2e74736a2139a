import { inSnapshot, openDatabase } from '@fw/service/sqlite';

import type { Slice, UserList, UserStore } from '../store.ts';
import type { User, UserChanges } from '../user.ts';

const FORMAT = {
  applicationId: 0x66777573, // "fwus"
  migrations: [
    `CREATE TABLE users (
       position   INTEGER PRIMARY KEY AUTOINCREMENT,
       id         TEXT NOT NULL UNIQUE,
       name       TEXT NOT NULL,
       email      TEXT NOT NULL,
       created_at INTEGER NOT NULL, -- milliseconds since 1970
       updated_at INTEGER NOT NULL
     ) STRICT`,
  ],
};

/**
 * Keeps users in an SQLite file, which several processes may share.
 *
 * @throws {Error} naming the file, if it cannot be opened or holds something else
 */
export function openSqliteUserStore(file: string): UserStore {
  const database = openDatabase(file, FORMAT);
  const count = database.prepare('SELECT count(*) AS total FROM users');
  const any = database.prepare('SELECT 1 FROM users LIMIT 1');
  const list = database.prepare('SELECT * FROM users ORDER BY position LIMIT ? OFFSET ?');
  const find = database.prepare('SELECT * FROM users WHERE id = ?');
  const insert = database.prepare(
    'INSERT INTO users (id, name, email, created_at, updated_at) VALUES (?, ?, ?, ?, ?)',
  );
  const update = database.prepare(
    `UPDATE users SET name = coalesce(?, name), email = coalesce(?, email), updated_at = ?
     WHERE id = ? RETURNING *`,
  );
  const remove = database.prepare('DELETE FROM users WHERE id = ?');

  return {
    async list({ start, limit }: Slice = { start: 0, limit: -1 }): Promise<UserList> {
      return inSnapshot(database, () => ({
        users: list.all(limit, start).map(toUser),
        total: Number(count.get()?.total),
      }));
    },
    async find(id: string) {
      const row = find.get(id);
      return row && toUser(row);
    },
    async insert({ id, name, email, createdAt, updatedAt }: User) {
      insert.run(id, name, email, createdAt.getTime(), updatedAt.getTime());
    },
    async update(id: string, { name, email }: UserChanges, updatedAt: Date) {
      const row = update.get(name ?? null, email ?? null, updatedAt.getTime(), id);
      return row && toUser(row);
    },
    async delete(id: string) {
      return remove.run(id).changes > 0;
    },
    async check() {
      any.get();
    },
    async close() {
      database.close();
    },
  };
}

function toUser(row: Record<string, unknown>): User {
  return {
    id: String(row.id),
    name: String(row.name),
    email: String(row.email),
    createdAt: new Date(Number(row.created_at)),
    updatedAt: new Date(Number(row.updated_at)),
  };
}
