import { json } from '@fw/body-parser';
import { openapi } from '@fw/openapi';
import { validate } from '@fw/validation';
import {
  ConflictError,
  createApp,
  createRouter,
  endpoint,
  errorHandler,
  NotFoundError,
  notFoundHandler,
} from 'fw';
import { z } from 'zod';

export const User = z
  .object({ id: z.string(), name: z.string(), email: z.string() })
  .meta({ id: 'User' });
export const NewUser = z.strictObject({ name: z.string().min(1).max(80), email: z.email() });
const Id = z.object({ id: z.string().regex(/^\d{1,9}$/) });
const Page = z.object({ limit: z.coerce.number().int().min(1).max(100).default(20) });

/** The routes of users, which are kept in memory. */
export function createUserRoutes() {
  const users = new Map<string, z.infer<typeof User>>();

  function find(id: string): z.infer<typeof User> {
    const user = users.get(id);
    if (!user) throw new NotFoundError(`User "${id}" not found`);
    return user;
  }

  return createRouter()
    .get('/', validate({ query: Page }), (ctx) => ({
      data: [...users.values()].slice(0, ctx.query.limit),
      total: users.size,
    }))
    .post('/', endpoint({ summary: 'Create a user' }), validate(NewUser), (ctx) => {
      const { name, email } = ctx.body;
      if ([...users.values()].some((user) => user.email === email)) {
        throw new ConflictError(`User "${email}" exists`);
      }
      const user = { id: String(users.size + 1), name, email };
      users.set(user.id, user);
      ctx.status = 201;
      ctx.set('Location', `/users/${user.id}`);
      ctx.json({ data: user });
    })
    .get('/:id', validate({ params: Id }), (ctx) => ({ data: find(ctx.params.id) }))
    .put('/:id', validate({ params: Id, body: NewUser }), (ctx) => {
      const user = { ...find(ctx.params.id), ...ctx.body };
      users.set(user.id, user);
      return { data: user };
    })
    .delete('/:id', validate({ params: Id }), (ctx) => {
      users.delete(find(ctx.params.id).id);
      ctx.status = 204;
    });
}

/** An exported router and an exported middleware: a library would write declarations of them. */
export const router = createRouter();
export const body = json({ limit: 4096 });

export function createUsersApp() {
  const users = createUserRoutes();
  const app = createApp();
  app.use(errorHandler(), body);
  app.use(openapi({ router: users, info: { title: 'Users', version: '1.0.0' } }));
  app.route('/users', users);
  app.route('/empty', router);
  app.use(users.allowedMethods(), notFoundHandler());
  return app;
}
