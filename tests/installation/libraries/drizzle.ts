import { json } from '@fw/body-parser';
import { validate } from '@fw/validation';
import { eq } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import { integer, pgTable, text } from 'drizzle-orm/pg-core';
import { ConflictError, createApp, errorHandler, listen } from 'fw';
import { z } from 'zod';

const users = pgTable('users', {
  id: integer().primaryKey().generatedAlwaysAsIdentity(),
  name: text().notNull().unique(),
});

const { DATABASE_URL = '', PORT = 3000 } = process.env;
const database = drizzle(DATABASE_URL);
await database.execute(
  'CREATE TABLE users (id integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY, name text UNIQUE)',
);

const app = createApp().use(errorHandler());

app.post('/users', json(), validate({ body: z.object({ name: z.string() }) }), async (ctx) => {
  const [user] = await database.insert(users).values(ctx.body).onConflictDoNothing().returning();
  if (!user) throw new ConflictError(`The name "${ctx.body.name}" is taken`);
  ctx.status = 201;
  return user;
});

app.get('/users/:id', validate({ params: z.object({ id: z.coerce.number() }) }), async (ctx) => {
  const [user] = await database.select().from(users).where(eq(users.id, ctx.params.id));
  return user ?? ctx.throw(404, `User "${ctx.params.id}" not found`);
});

await listen(app, Number(PORT));
