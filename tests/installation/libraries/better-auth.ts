import { DatabaseSync } from 'node:sqlite';
import { connect } from '@fw/middleware/connect';
import { betterAuth } from 'better-auth';
import { getMigrations } from 'better-auth/db/migration';
import { fromNodeHeaders, toNodeHandler } from 'better-auth/node';
import { annotate, createApp, errorHandler, type Guard, listen, UnauthorizedError } from 'fw';

const auth = betterAuth({
  database: new DatabaseSync(':memory:'),
  emailAndPassword: { enabled: true },
});
await (await getMigrations(auth.options)).runMigrations();

const authenticate: Guard<{ user: { id: string; name: string } }> = async (ctx, next) => {
  const session = await auth.api.getSession({ headers: fromNodeHeaders(ctx.headers) });
  if (!session) throw new UnauthorizedError('log in first');
  ctx.state.user = session.user;
  return next();
};
annotate(authenticate, { security: [{ session: [] }] });

const app = createApp().use(errorHandler());
app.use('/api/auth', connect(toNodeHandler(auth)));
app.get('/me', authenticate, (ctx) => ({ name: ctx.state.user.name }));

await listen(app, Number(process.env.PORT ?? 3000));
