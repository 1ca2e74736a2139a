import {
  appliedMigrations,
  createGroupCommit,
  type DatabaseFormat,
  openDatabase,
  orUnavailable,
} from '@fw/service/sqlite';

import type { TaskStore } from '../store.ts';
import type { Task } from '../task.ts';

/** Append a migration for each change of the tables; never change an old one. */
const FORMAT: DatabaseFormat = {
  applicationId: 0x7461736b, // another number in each service
  migrations: [
    `CREATE TABLE tasks (
       position   INTEGER PRIMARY KEY AUTOINCREMENT,
       id         TEXT NOT NULL UNIQUE,
       title      TEXT NOT NULL,
       done       INTEGER NOT NULL, -- 0 or 1
       created_at INTEGER NOT NULL  -- milliseconds since 1970
     ) STRICT`,
  ],
};

/** Not `*`: the previous version of the program must work with tables that have more columns. */
const COLUMNS = 'position, id, title, done, created_at';

/**
 * Opens the tasks in an SQLite file. Acknowledged writes are on disk.
 *
 * @param timeoutMs how long to wait while another process locks the file
 * @throws {Error} naming the file, if it cannot be opened or belongs to another program
 */
export function openSqliteTaskStore(
  file: string,
  { timeoutMs = 1_000 }: { readonly timeoutMs?: number } = {},
): TaskStore {
  const database = openDatabase(file, FORMAT, { timeoutMs });
  const { write } = createGroupCommit(database, { timeoutMs });
  const list = database.prepare(
    `SELECT ${COLUMNS} FROM tasks WHERE position > ? ORDER BY position LIMIT ?`,
  );
  const find = database.prepare(`SELECT ${COLUMNS} FROM tasks WHERE id = ?`);
  const insert = database.prepare(
    'INSERT INTO tasks (id, title, done, created_at) VALUES (?, ?, ?, ?)',
  );
  const update = database.prepare(
    `UPDATE tasks SET title = coalesce(?, title), done = coalesce(?, done)
     WHERE id = ? RETURNING ${COLUMNS}`,
  );
  const remove = database.prepare('DELETE FROM tasks WHERE id = ?');

  return {
    async list({ after, limit }) {
      const rows = orUnavailable(() => list.all(after, limit + 1));
      const page = rows.slice(0, limit);
      const next = rows.length > limit ? Number(page.at(-1)?.position) : undefined;
      return { tasks: page.map(toTask), next };
    },
    async find(id) {
      const row = orUnavailable(() => find.get(id));
      return row && toTask(row);
    },
    insert: ({ id, title, done, createdAt }) =>
      write(() => {
        insert.run(id, title, Number(done), createdAt.getTime());
      }),
    update: (id, { title, done }) =>
      write(() => {
        const row = update.get(title ?? null, done === undefined ? null : Number(done), id);
        return row && toTask(row);
      }),
    delete: (id) => write(() => remove.run(id).changes > 0),
    // openDatabase has migrated the file.
    migrate: async () => appliedMigrations(database),
    async check() {
      orUnavailable(() => find.get(''));
    },
    async close() {
      await write(() => {}).catch(() => {}); // after the pending writes
      database.close();
    },
  };
}

function toTask(row: Readonly<Record<string, unknown>>): Task {
  return {
    id: String(row.id),
    title: String(row.title),
    done: row.done === 1,
    createdAt: new Date(Number(row.created_at)),
  };
}
