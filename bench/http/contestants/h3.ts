import { H3, readBody, serve } from 'h3/node';

import { defineContestant } from '../contestant.ts';
import { ITEMS, MIDDLEWARES, RESOURCES, readUser, UserSchema } from '../workloads.ts';

/** h3 with its adapter for Node. */
export const contestant = defineContestant<H3>({
  packages: ['h3', 'zod'],
  routes: {
    hello: (app) => app.get('/', () => ({ hello: 'world' })),
    parameter: (app) => {
      for (const resource of RESOURCES) {
        app.get(`/api/v1/${resource}/:id`, (event) => ({ resource, id: event.context.params?.id }));
      }
    },
    post: (app) =>
      app.post('/users', async (event) => {
        const user = readUser(await readBody(event));
        event.res.status = user ? 201 : 400;
        return user ? { data: user } : { error: 'Not a user' };
      }),
    list: (app) => app.get('/items', () => ({ data: ITEMS })),
    middlewares: (app) => {
      for (let step = 0; step < MIDDLEWARES; step++) {
        app.use((event, next) => {
          event.context.count = Number(event.context.count ?? 0) + 1;
          return next();
        });
      }
      app.get('/', (event) => ({ count: event.context.count }));
    },
    validated: (app) =>
      app.post('/users', async (event) => {
        const { success, data } = UserSchema.safeParse(await readBody(event));
        event.res.status = success ? 201 : 400;
        return success ? { data } : { error: 'Not a user' };
      }),
  },
  async serve(register) {
    const app = new H3();
    await register(app);
    const server = await serve(app, { port: 0, hostname: '127.0.0.1', silent: true }).ready();
    return Number(new URL(server.url ?? '').port);
  },
});
