import { eq, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import { boolean, pgTable, text } from 'drizzle-orm/pg-core';
import { createApp, errorHandler, listen } from 'fw';
import { fromDrizzle, PgBoss } from 'pg-boss';

const { DATABASE_URL = '', PORT = 3000 } = process.env;
const users = pgTable('users', { name: text().primaryKey(), welcomed: boolean().default(false) });
const database = drizzle(DATABASE_URL);
await database.execute('CREATE TABLE users (name text PRIMARY KEY, welcomed boolean)');

const boss = new PgBoss(DATABASE_URL);
boss.on('error', console.error);
await boss.start();
await boss.createQueue('welcome', { retryLimit: 5 });
await boss.work<{ name: string }>('welcome', async (jobs) => {
  for (const { data } of jobs) {
    await database.update(users).set({ welcomed: true }).where(eq(users.name, data.name));
  }
});

const app = createApp().use(errorHandler());
app.put('/users/:name', async (ctx) => {
  const { name } = ctx.params;
  await database.transaction(async (transaction) => {
    await boss.send('welcome', { name }, { db: fromDrizzle(transaction, sql) });
    await transaction.insert(users).values({ name });
  });
  ctx.status = 201;
});
app.get('/users', () => database.select().from(users));

const server = await listen(app, Number(PORT));
process.once('SIGTERM', async () => {
  await server.close();
  await boss.stop();
  await database.$client.end();
});
