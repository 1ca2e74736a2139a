import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { json } from '@fw/body-parser';
import { validate } from '@fw/validation';
import { ConflictError, createApp, errorHandler, listen } from 'fw';
import { type Generated, Kysely, type SqliteDatabase, SqliteDialect } from 'kysely';
import { z } from 'zod';

/** The database in the form of better-sqlite3, which Kysely expects. */
function openDatabase(file: string): SqliteDatabase {
  const sqlite = new DatabaseSync(file);
  sqlite.exec('CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)');
  return {
    close: () => sqlite.close(),
    prepare(sql) {
      const statement = sqlite.prepare(sql);
      return {
        reader: statement.columns().length > 0,
        all: (values) => statement.all(...(values as SQLInputValue[])),
        run: (values) => statement.run(...(values as SQLInputValue[])),
        iterate: (values) => statement.iterate(...(values as SQLInputValue[])),
      };
    },
  };
}

const database = new Kysely<{ users: { id: Generated<number>; name: string } }>({
  dialect: new SqliteDialect({ database: openDatabase(':memory:') }),
});

const app = createApp().use(errorHandler());
app.post('/users', json(), validate({ body: z.object({ name: z.string() }) }), async (ctx) => {
  const insert = database.insertInto('users').values(ctx.body).returningAll();
  const user = await insert.onConflict((on) => on.doNothing()).executeTakeFirst();
  if (!user) throw new ConflictError(`The name "${ctx.body.name}" is taken`);
  ctx.status = 201;
  return user;
});

await listen(app, Number(process.env.PORT ?? 3000));
