import { serve } from '@hono/node-server';
import { getConnInfo } from '@hono/node-server/conninfo';
import { zValidator } from '@hono/zod-validator';
import { Hono } from 'hono';
import { contextStorage, getContext } from 'hono/context-storage';
import { getCookie, setSignedCookie } from 'hono/cookie';
import { cors } from 'hono/cors';
import { etag } from 'hono/etag';
import { jwt } from 'hono/jwt';
import { secureHeaders } from 'hono/secure-headers';
import { rateLimiter } from 'hono-rate-limiter';

import { defineContestant } from '../contestant.ts';
import {
  COOKIE_SECRET,
  ITEMS,
  MAX_PER_MINUTE,
  MIDDLEWARES,
  ORIGIN,
  RESOURCES,
  readUser,
  TOKEN,
  UserSchema,
} from '../workloads.ts';

type App = Hono<{ Variables: { count: number } }>;

/** Hono with its adapter for Node. */
export const contestant = defineContestant<App>({
  packages: ['hono', '@hono/node-server', '@hono/zod-validator', 'zod', 'hono-rate-limiter'],
  routes: {
    hello: (app) => app.get('/', (c) => c.json({ hello: 'world' })),
    parameter: (app) => {
      for (const resource of RESOURCES) {
        app.get(`/api/v1/${resource}/:id`, (c) => c.json({ resource, id: c.req.param('id') }));
      }
    },
    post: (app) =>
      app.post('/users', async (c) => {
        const user = readUser(await c.req.json());
        return user ? c.json({ data: user }, 201) : c.json({ error: 'Not a user' }, 400);
      }),
    list: (app) => app.get('/items', (c) => c.json({ data: ITEMS })),
    middlewares: (app) => {
      for (let step = 0; step < MIDDLEWARES; step++) {
        app.use((c, next) => {
          c.set('count', (c.get('count') ?? 0) + 1);
          return next();
        });
      }
      app.get('/', (c) => c.json({ count: c.get('count') }));
    },
    validated: (app) =>
      app.post('/users', zValidator('json', UserSchema), (c) =>
        c.json({ data: c.req.valid('json') }, 201),
      ),
    cookies: (app) =>
      app.get('/', async (c) => {
        await setSignedCookie(c, 'session', getCookie(c, 'theme') ?? '', COOKIE_SECRET);
        return c.json({ hello: 'world' });
      }),
    forms: (app) =>
      app.post('/users', async (c) => {
        const user = readUser(await c.req.parseBody());
        return user ? c.json({ data: user }, 201) : c.json({ error: 'Not a user' }, 400);
      }),
    'request-context': (app) => {
      app.use(contextStorage());
      app.get('/', () => getContext().json({ hello: 'world' }));
    },
  },
  addOns: {
    'bearer-token': (app) => {
      const { secret, issuer, audience } = TOKEN;
      app.use(jwt({ secret, alg: 'HS256', verification: { iss: issuer, aud: audience } }));
    },
    cors: (app) => app.use(cors({ origin: [ORIGIN] })),
    etag: (app) => app.use(etag()),
    'security-headers': (app) => {
      const contentSecurityPolicy = { defaultSrc: ["'self'"] };
      app.use(secureHeaders({ contentSecurityPolicy }));
    },
    limited: (app) =>
      app.use(
        rateLimiter({
          limit: MAX_PER_MINUTE,
          windowMs: 60_000,
          keyGenerator: (c) => getConnInfo(c).remote.address ?? '',
        }),
      ),
  },
  async serve(register) {
    const app: App = new Hono();
    await register(app);
    return new Promise((resolve) => {
      serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => resolve(port));
    });
  },
});
