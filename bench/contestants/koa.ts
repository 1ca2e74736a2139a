import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { bodyParser } from '@koa/bodyparser';
import Router from '@koa/router';
import Koa from 'koa';
import serveStatic from 'koa-static';

import { defineContestant } from '../contestant.ts';
import {
  ITEMS,
  MIDDLEWARES,
  parseUser,
  RESOURCES,
  ROOT_FOLDER,
  readUser,
} from '../http/workloads.ts';
import { countBytes } from '../work.ts';

interface App {
  readonly app: Koa;
  readonly router: Router;
}

/**
 * Koa with the router and the body parser of the Koa organisation. Its documentation has streams as
 * `ctx.body`, but no cancellation: `signal` of Node's request.
 */
export const contestant = defineContestant<App>({
  packages: ['koa', '@koa/router', '@koa/bodyparser', 'koa-static', 'zod'],
  routes: {
    hello: ({ router }) =>
      router.get('/', (ctx) => {
        ctx.body = { hello: 'world' };
      }),
    parameter: ({ router }) => {
      for (const resource of RESOURCES) {
        router.get(`/api/v1/${resource}/:id`, (ctx) => {
          ctx.body = { resource, id: ctx.params.id };
        });
      }
    },
    post: (own) => postUsers(own, readUser),
    list: ({ router }) =>
      router.get('/items', (ctx) => {
        ctx.body = { data: ITEMS };
      }),
    middlewares: ({ app, router }) => {
      for (let step = 0; step < MIDDLEWARES; step++) {
        app.use((ctx, next) => {
          ctx.state.count = (ctx.state.count ?? 0) + 1;
          return next();
        });
      }
      router.get('/', (ctx) => {
        ctx.body = { count: ctx.state.count };
      });
    },
    upload: ({ router }) =>
      router.post('/upload', async (ctx) => {
        ctx.body = { bytes: await countBytes(ctx.req) };
      }),
    static: ({ app }) => app.use(serveStatic(ROOT_FOLDER)),
    validated: (own) => postUsers(own, parseUser),
    body: ({ router }, { body }) =>
      router.post('/body', async (ctx) => {
        await body(ctx.req);
        ctx.body = '';
      }),
    query: ({ router }, { query }) =>
      router.get('/query', async (ctx) => {
        ctx.body = await query();
      }),
    call: ({ router }, { call }) =>
      router.get('/call', async (ctx) => {
        ctx.body = await call(ctx.req.signal);
      }),
    stream: ({ router }, { chunks }) =>
      router.get('/stream', (ctx) => {
        ctx.body = Readable.from(chunks());
      }),
    events: ({ router }, { events }) =>
      router.get('/events', (ctx) => {
        ctx.type = 'text/event-stream';
        ctx.body = Readable.from(events('data: tick\n\n', ctx.req.signal));
      }),
  },
  async serve(register) {
    const app = new Koa();
    app.silent = true;
    const router = new Router();
    await register({ app, router });
    app.use(router.routes());
    return createServer(app.callback());
  },
});

function postUsers({ app, router }: App, read: typeof readUser): void {
  app.use(bodyParser());
  router.post('/users', (ctx) => {
    const user = read(ctx.request.body);
    ctx.status = user ? 201 : 400;
    ctx.body = user ? { data: user } : { error: 'Not a user' };
  });
}
