import { openPostgres, type PostgresOptions, type Row, type Statement } from '@fw/service/postgres';

import type { TaskStore } from '../store.ts';
import type { Task } from '../task.ts';

/** Append a migration for each change of the tables; never change an old one. */
const MIGRATIONS = [
  `CREATE TABLE tasks (
     position   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
     id         text NOT NULL UNIQUE,
     title      text NOT NULL,
     done       boolean NOT NULL,
     created_at timestamptz NOT NULL
   )`,
];

const COLUMNS = 'position, id, title, done, created_at';

const LIST: Statement = {
  name: 'list',
  text: `SELECT ${COLUMNS} FROM tasks WHERE position > $1 ORDER BY position LIMIT $2`,
};
const FIND: Statement = { name: 'find', text: `SELECT ${COLUMNS} FROM tasks WHERE id = $1` };
const INSERT: Statement = {
  name: 'insert',
  text: 'INSERT INTO tasks (id, title, done, created_at) VALUES ($1, $2, $3, $4)',
};
const UPDATE: Statement = {
  name: 'update',
  text: `UPDATE tasks SET title = coalesce($2, title), done = coalesce($3, done)
         WHERE id = $1 RETURNING ${COLUMNS}`,
};
const DELETE: Statement = { name: 'delete', text: 'DELETE FROM tasks WHERE id = $1 RETURNING id' };

/** Opens the tasks in PostgreSQL, which several processes may share. It connects on first use. */
export function openPostgresTaskStore(
  options: Omit<PostgresOptions, 'name' | 'migrations'>,
): TaskStore {
  const database = openPostgres({ ...options, name: 'tasks', migrations: MIGRATIONS });
  const { query } = database;

  return {
    async list({ after, limit }) {
      const rows = await query(LIST, [after, limit + 1]);
      const page = rows.slice(0, limit);
      const next = rows.length > limit ? Number(page.at(-1)?.position) : undefined;
      return { tasks: page.map(toTask), next };
    },
    async find(id) {
      const [row] = await query(FIND, [id]);
      return row && toTask(row);
    },
    async insert({ id, title, done, createdAt }) {
      await query(INSERT, [id, title, done, createdAt]);
    },
    async update(id, { title, done }) {
      const [row] = await query(UPDATE, [id, title ?? null, done ?? null]);
      return row && toTask(row);
    },
    async delete(id) {
      return (await query(DELETE, [id])).length > 0;
    },
    migrate: () => database.migrate(),
    check: () => database.check(),
    close: () => database.close(),
  };
}

function toTask({ id, title, done, created_at }: Row): Task {
  return {
    id: String(id),
    title: String(title),
    done: done === true,
    createdAt: new Date(String(created_at)),
  };
}
