import { json } from '@fw/body-parser';
import {
  BadRequestError,
  createApp,
  createRouter,
  errorHandler,
  listen,
  notFoundHandler,
  type Router,
} from 'fw';

import { ITEMS, MIDDLEWARES, RESOURCES, readUser, type Workload } from '../workloads.ts';

const routes: Record<Workload, (router: Router) => void> = {
  hello: (router) => {
    router.get('/', (ctx) => ctx.json({ hello: 'world' }));
  },

  parameter: (router) => {
    for (const resource of RESOURCES) {
      router.get(`/api/v1/${resource}/:id`, (ctx) => ctx.json({ resource, id: ctx.params.id }));
    }
  },

  post: (router) => {
    router.post('/users', (ctx) => {
      const user = readUser(ctx.body);
      if (!user) throw new BadRequestError('Not a user');
      ctx.status = 201;
      ctx.json({ data: user });
    });
  },

  list: (router) => {
    router.get('/items', (ctx) => ctx.json({ data: ITEMS }));
  },

  middlewares: (router) => {
    router.get('/', (ctx) => ctx.json({ count: ctx.state.count }));
  },
};

/** The stack that users run: errors first, the body parser, the routes, and what answers the rest. */
export async function start(workload: Workload): Promise<number> {
  const app = createApp();
  app.use(errorHandler());
  app.use(json());
  if (workload === 'middlewares') {
    for (let step = 0; step < MIDDLEWARES; step++) {
      app.use((ctx, next) => {
        ctx.state.count = Number(ctx.state.count ?? 0) + 1;
        return next();
      });
    }
  }
  const router = createRouter();
  routes[workload](router);
  app.route('/', router);
  app.use(router.allowedMethods());
  app.use(notFoundHandler());
  const { port } = await listen(app, { port: 0, host: '127.0.0.1' });
  return port;
}
