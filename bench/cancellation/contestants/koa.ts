import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import Router from '@koa/router';
import Koa from 'koa';

import { listenOnFreePort } from '../../http/contestant.ts';
import type { Contestant } from '../work.ts';

/** Its documentation has streams as `ctx.body`, but no cancellation: `signal` of Node's request. */
export const contestant: Contestant = {
  packages: ['koa', '@koa/router'],
  without: 'websocket',
  start({ body, waiting, chunks, events }) {
    const router = new Router();
    router.post('/body', async (ctx) => {
      await body(ctx.req);
      ctx.body = '';
    });
    for (const [name, wait] of Object.entries(waiting)) {
      router.get(`/${name}`, async (ctx) => {
        ctx.body = await wait(ctx.req.signal);
      });
    }
    router.get('/stream', (ctx) => {
      ctx.body = Readable.from(chunks());
    });
    router.get('/events', (ctx) => {
      ctx.body = Readable.from(events(ctx.req.signal));
    });
    const app = new Koa();
    app.silent = true;
    app.use(router.routes());
    return listenOnFreePort(createServer(app.callback()));
  },
};
