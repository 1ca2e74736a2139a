import type { Server } from 'node:http';
import { createAdaptorServer, upgradeWebSocket } from '@hono/node-server';
import { getConnInfo } from '@hono/node-server/conninfo';
import { serveStatic } from '@hono/node-server/serve-static';
import { zValidator } from '@hono/zod-validator';
import { Hono } from 'hono';
import { contextStorage, getContext } from 'hono/context-storage';
import { getCookie, setSignedCookie } from 'hono/cookie';
import { cors } from 'hono/cors';
import { etag } from 'hono/etag';
import { jwt } from 'hono/jwt';
import { secureHeaders } from 'hono/secure-headers';
import { stream, streamSSE } from 'hono/streaming';
import { rateLimiter } from 'hono-rate-limiter';
import { WebSocketServer } from 'ws';

import { defineContestant } from '../contestant.ts';
import {
  COOKIE_SECRET,
  ITEMS,
  MAX_PER_MINUTE,
  MIDDLEWARES,
  ORIGIN,
  RESOURCES,
  ROOT_FOLDER,
  readUser,
  TOKEN,
  UserSchema,
} from '../http/workloads.ts';

type App = Hono<{ Variables: { count: number } }>;

/**
 * Hono with its adapter for Node. Cancels with `c.req.raw.signal` and `stream.pipe()`; `upgradeWebSocket` of
 * @hono/node-server.
 */
export const contestant = defineContestant<App>({
  packages: ['hono', '@hono/node-server', '@hono/zod-validator', 'zod', 'hono-rate-limiter', 'ws'],
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
    upload: (app) =>
      app.post('/upload', async (c) => {
        let bytes = 0;
        for await (const chunk of c.req.raw.body ?? []) bytes += chunk.length;
        return c.json({ bytes });
      }),
    static: (app) => app.use('/services/*', serveStatic({ root: ROOT_FOLDER })),
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
    body: (app, { body }) =>
      app.post('/body', async (c) => {
        await body(c.req.raw.body);
        return c.body(null);
      }),
    query: (app, { query }) => app.get('/query', async (c) => c.json(await query())),
    call: (app, { call }) => app.get('/call', async (c) => c.json(await call(c.req.raw.signal))),
    stream: (app, { chunks }) =>
      app.get('/stream', (c) =>
        stream(c, (out) =>
          out.pipe(ReadableStream.from(chunks()).pipeThrough(new TextEncoderStream())),
        ),
      ),
    events: (app, { events }) =>
      app.get('/events', (c) =>
        streamSSE(c, async (out) => {
          for await (const data of events('tick', c.req.raw.signal)) await out.writeSSE({ data });
        }),
      ),
    websocket: (app, { opened, closed }) =>
      app.get(
        '/websocket',
        upgradeWebSocket(() => ({
          onOpen: opened,
          onClose: closed,
          onMessage: ({ data }, socket) => socket.send(String(data)),
        })),
      ),
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
    // Its type differs from that of ws in an optional property only.
    const websocket = { server: new WebSocketServer({ noServer: true }) as never };
    return createAdaptorServer({ fetch: app.fetch, websocket }) as Server;
  },
});
