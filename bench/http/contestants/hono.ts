import { serve } from '@hono/node-server';
import { getConnInfo } from '@hono/node-server/conninfo';
import { zValidator } from '@hono/zod-validator';
import { Hono } from 'hono';
import { rateLimiter } from 'hono-rate-limiter';

import type { WorkloadOf } from '../contestant.ts';
import {
  ITEMS,
  MAX_PER_MINUTE,
  MIDDLEWARES,
  RESOURCES,
  readUser,
  UserSchema,
} from '../workloads.ts';

type App = Hono<{ Variables: { count: number } }>;

const routes: Record<WorkloadOf<'hono'>, (app: App) => void> = {
  hello: (app) => {
    app.get('/', (c) => c.json({ hello: 'world' }));
  },

  parameter: (app) => {
    for (const resource of RESOURCES) {
      app.get(`/api/v1/${resource}/:id`, (c) => c.json({ resource, id: c.req.param('id') }));
    }
  },

  post: (app) => {
    app.post('/users', async (c) => {
      const user = readUser(await c.req.json());
      return user ? c.json({ data: user }, 201) : c.json({ error: 'Not a user' }, 400);
    });
  },

  list: (app) => {
    app.get('/items', (c) => c.json({ data: ITEMS }));
  },

  middlewares: (app) => {
    for (let step = 0; step < MIDDLEWARES; step++) {
      app.use((c, next) => {
        c.set('count', (c.get('count') ?? 0) + 1);
        return next();
      });
    }
    app.get('/', (c) => c.json({ count: c.get('count') }));
  },

  validated: (app) => {
    app.post('/users', zValidator('json', UserSchema), (c) =>
      c.json({ data: c.req.valid('json') }, 201),
    );
  },

  limited: (app) => {
    app.use(
      rateLimiter({
        limit: MAX_PER_MINUTE,
        windowMs: 60_000,
        keyGenerator: (c) => getConnInfo(c).remote.address ?? '',
      }),
    );
    routes.hello(app);
  },
};

/** Hono with its adapter for Node. */
export function start(workload: WorkloadOf<'hono'>): Promise<number> {
  const app: App = new Hono();
  routes[workload](app);
  return new Promise((resolve) => {
    serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => resolve(port));
  });
}
