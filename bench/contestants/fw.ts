import { Readable } from 'node:stream';
import { json } from '@fw/body-parser';
import { controllersPlugin } from '@fw/controllers';
import { bearerToken } from '@fw/middleware/bearer-token';
import { connect } from '@fw/middleware/connect';
import { createSignedCookies, readCookie } from '@fw/middleware/cookies';
import { cors } from '@fw/middleware/cors';
import { etag } from '@fw/middleware/etag';
import { forms } from '@fw/middleware/forms';
import { currentContext, requestContext } from '@fw/middleware/request-context';
import { securityHeaders } from '@fw/middleware/security-headers';
import { sse } from '@fw/middleware/sse';
import { staticFiles } from '@fw/middleware/static-files';
import { websocket } from '@fw/middleware/websocket';
import { rateLimit } from '@fw/rate-limit';
import { createLogger, createMetrics, createServiceApp } from '@fw/service';
import { openPostgres } from '@fw/service/postgres';
import { validate } from '@fw/validation';
import expressCors from 'cors';
import {
  type Application,
  BadRequestError,
  createApp,
  createRouter,
  endpoint,
  errorHandler,
  listen,
  notFoundHandler,
  type Router,
} from 'fw';
import { z } from 'zod';

import { defineContestant, type Route } from '../contestant.ts';
import {
  COOKIE_SECRET,
  findUser,
  ITEM_SCHEMA,
  ITEMS,
  MAX_PER_MINUTE,
  MIDDLEWARES,
  ORIGIN,
  PAGE,
  RESOURCES,
  ROWS,
  readUser,
  SERVICES_FOLDER,
  TOKEN,
  UserSchema,
} from '../http/workloads.ts';
import { countBytes, SLOW_QUERY } from '../work.ts';

interface App {
  readonly app: Application;
  readonly router: Router;
}

/** Routes with bodies of another media type, which `json()` rejects. */
const NOT_JSON: readonly Route[] = ['forms', 'upload', 'body'];
const LIMIT_BYTES = 1024 ** 2;
const MAX_CLIENTS = 100_000;
const quiet = { info() {}, warn() {}, error() {} };

/**
 * The usual stack: error handler, body parser, routes, 405 and 404. Cancels with `ctx.signal`, the signal
 * of `sse()`, and `query()` of @fw/service/postgres, which takes a signal.
 */
export const contestant = defineContestant<App>({
  packages: ['zod', 'pino', 'prom-client', 'jose', 'cors'],
  routes: {
    hello: ({ router }) => router.get('/', (ctx) => ctx.json({ hello: 'world' })),
    parameter: ({ router }) => {
      for (const resource of RESOURCES) {
        router.get(`/api/v1/${resource}/:id`, (ctx) => ctx.json({ resource, id: ctx.params.id }));
      }
    },
    post: ({ router }) =>
      router.post('/users', (ctx) => {
        const user = readUser(ctx.body);
        if (!user) throw new BadRequestError('Not a user');
        ctx.status = 201;
        ctx.json({ data: user });
      }),
    list: ({ router }) => router.get('/items', (ctx) => ctx.json({ data: ITEMS })),
    middlewares: ({ app, router }) => {
      for (let step = 0; step < MIDDLEWARES; step++) {
        app.use((ctx, next) => {
          ctx.state.count = Number(ctx.state.count ?? 0) + 1;
          return next();
        });
      }
      router.get('/', (ctx) => ctx.json({ count: ctx.state.count }));
    },
    upload: ({ router }) =>
      router.post('/upload', async (ctx) =>
        ctx.json({ bytes: await countBytes(ctx.stream({ limit: LIMIT_BYTES })) }),
      ),
    static: ({ app }) => app.use(staticFiles({ root: SERVICES_FOLDER, prefix: '/services' })),
    user: ({ router }) =>
      router.get('/api/v1/users/:id', (ctx) => ctx.json(findUser(ctx.params.id))),
    item: ({ router }) => router.get('/item', (ctx) => ctx.json(PAGE[0])),
    page: ({ router }) => router.get('/items', (ctx) => ctx.json({ data: PAGE })),
    'item-contract': ({ router }) => {
      const contract = endpoint({ responses: { 200: ITEM_SCHEMA } });
      router.get('/item', contract, (ctx) => ctx.json(ROWS[0]));
    },
    'page-contract': ({ router }) => {
      const data = { type: 'array', items: ITEM_SCHEMA };
      const Page = { type: 'object', required: ['data'], properties: { data } };
      router.get('/items', endpoint({ responses: { 200: Page } }), (ctx) =>
        ctx.json({ data: ROWS }),
      );
    },
    validated: ({ router }) =>
      router.post('/users', validate({ body: UserSchema }), (ctx) => {
        ctx.status = 201;
        ctx.json({ data: ctx.body });
      }),
    cookies: ({ router }) => {
      const cookies = createSignedCookies([COOKIE_SECRET]);
      router.get('/', (ctx) => {
        cookies.set(ctx, 'session', readCookie(ctx, 'theme') ?? '');
        ctx.json({ hello: 'world' });
      });
    },
    'request-context': ({ app, router }) => {
      app.use(requestContext());
      router.get('/', () => currentContext().json({ hello: 'world' }));
    },
    controller: ({ app, router }) => {
      const root = new URL('../controllers/fw', import.meta.url).href;
      app.plugin(controllersPlugin({ router, root }));
    },
    body: ({ router }, { body }) =>
      router.post('/body', async (ctx) => {
        await body(ctx.stream({ limit: LIMIT_BYTES }));
      }),
    query: ({ router }, { handle, postgresUrl: url }) => {
      const database = openPostgres({ url, name: 'bench', migrations: ['SELECT 1'] });
      const statement = { name: 'slow', text: SLOW_QUERY };
      router.get('/query', async ({ signal }) => {
        await handle(() => database.query(statement, [], { signal }));
      });
    },
    call: ({ router }, { call }) =>
      router.get('/call', async (ctx) => ctx.send(await call(ctx.signal))),
    stream: ({ router }, { chunks }) =>
      router.get('/stream', (ctx) => ctx.send(Readable.from(chunks()))),
    events: ({ router }, { events }) => {
      const ticks = sse((_ctx, { signal }) => events({ data: 'tick' }, signal), {
        maxClients: MAX_CLIENTS,
      });
      router.get('/events', ticks);
    },
    websocket: ({ router }, { opened, closed }) => {
      const echo = websocket({
        schema: z.object({ text: z.string() }),
        maxClients: MAX_CLIENTS,
        open: opened,
        close: closed,
        message: (client, value) => client.send(value),
      });
      router.get('/websocket', echo);
    },
  },
  addOns: {
    limited: ({ app }) => app.use(rateLimit({ max: MAX_PER_MINUTE, window: '1m' })),
    /** `serve` creates the application of a service. */
    observed: () => undefined,
    'bearer-token': ({ app }) => app.use(bearerToken(TOKEN)),
    connect: ({ app }) => app.use(connect(expressCors({ origin: [ORIGIN] }))),
    cors: ({ app }) => app.use(cors({ origin: [ORIGIN] })),
    etag: ({ app }) => app.use(etag()),
    forms: ({ app }) => app.use(forms()),
    'security-headers': ({ app }) => app.use(securityHeaders()),
  },
  async serve(register, routes) {
    const app = routes.includes('observed')
      ? createServiceApp({
          logger: createLogger('bench'),
          metrics: createMetrics({ hasProcessMetrics: true }),
        })
      : createApp({ logger: quiet }).use(errorHandler());
    if (!routes.some((route) => NOT_JSON.includes(route))) app.use(json());
    const router = createRouter();
    await register({ app, router });
    app.route('/', router);
    app.use(router.allowedMethods());
    app.use(notFoundHandler());
    return (await listen(app, { port: 0, host: '127.0.0.1' })).server;
  },
});
