import { bodyParser } from '@koa/bodyparser';
import Router from '@koa/router';
import Koa from 'koa';
import compress from 'koa-compress';
import serveStatic from 'koa-static';

import { type Contestant, serveListener } from '../contestant.ts';
import { countBytes, type Store, sum, totals } from '../items.ts';

export const contestant: Contestant = {
  packages: ['koa', '@koa/router', '@koa/bodyparser', 'koa-compress', 'koa-static'],
  start(setting) {
    const { store, folder } = setting;
    const router = new Router()
      .get('/pipeline', (ctx) => {
        ctx.body = 'ok';
      })
      .get('/baseline11', (ctx) => {
        ctx.body = sum(ctx.query);
      })
      .post('/baseline11', (ctx) => {
        ctx.body = sum(ctx.query, ctx.request.body);
      })
      .post('/upload', async (ctx) => {
        ctx.body = await countBytes(ctx.req);
      })
      .get('/json/:count', compress(), (ctx) => {
        ctx.body = totals(ctx.params.count, ctx.query);
      })
      .get('/async-db', async (ctx) => {
        ctx.body = await store.between(ctx.query);
      });
    addCrud(router, store);
    const app = new Koa()
      .use(bodyParser({ enableTypes: ['json', 'text'] }))
      .use(router.routes())
      .use(serveStatic(folder));
    return serveListener(app.callback(), setting);
  },
};

function addCrud(router: Router, store: Store): void {
  router
    .get('/crud/items', async (ctx) => {
      ctx.body = await store.list(ctx.query);
    })
    .get('/crud/items/:id', async (ctx) => {
      const { item, cached } = await store.find(Number(ctx.params.id));
      if (!item) return;
      ctx.set('X-Cache', cached);
      ctx.body = item;
    })
    .post('/crud/items', async (ctx) => {
      ctx.status = 201;
      ctx.body = await store.create(ctx.request.body);
    })
    .put('/crud/items/:id', async (ctx) => {
      const item = await store.update(Number(ctx.params.id), ctx.request.body);
      if (item) ctx.body = item;
    });
}
