import { createServer } from 'node:http';
import { bodyParser } from '@koa/bodyparser';
import Router from '@koa/router';
import Koa from 'koa';

import { defineContestant, listenOnFreePort } from '../contestant.ts';
import { ITEMS, MIDDLEWARES, RESOURCES, readUser, UserSchema } from '../workloads.ts';

/** Koa with the router and the body parser of the Koa organisation. */
export const contestant = defineContestant<{ app: Koa; router: Router }>({
  packages: ['koa', '@koa/router', '@koa/bodyparser', 'zod'],
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
    post: ({ app, router }) => {
      app.use(bodyParser());
      router.post('/users', (ctx) => {
        const user = readUser(ctx.request.body);
        ctx.status = user ? 201 : 400;
        ctx.body = user ? { data: user } : { error: 'Not a user' };
      });
    },
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
    validated: ({ app, router }) => {
      app.use(bodyParser());
      router.post('/users', (ctx) => {
        const { success, data } = UserSchema.safeParse(ctx.request.body);
        ctx.status = success ? 201 : 400;
        ctx.body = success ? { data } : { error: 'Not a user' };
      });
    },
  },
  async serve(register) {
    const app = new Koa();
    const router = new Router();
    await register({ app, router });
    app.use(router.routes());
    return listenOnFreePort(createServer(app.callback()));
  },
});
