import { json, text } from '@fw/body-parser';
import { compress } from '@fw/middleware/compress';
import { staticFiles } from '@fw/middleware/static-files';
import {
  createApp,
  createRouter,
  errorHandler,
  listen,
  NotFoundError,
  notFoundHandler,
  type Router,
} from 'fw';

import type { Contestant } from '../contestant.ts';
import { countBytes, type Store, sum, totals } from '../items.ts';

export const contestant: Contestant = {
  packages: [],
  async start({ store, folder, tls }) {
    const app = createApp().use(errorHandler());
    const router = createRouter()
      .get('/pipeline', (ctx) => ctx.send('ok'))
      .get('/baseline11', (ctx) => ctx.send(sum(ctx.query)))
      .post('/baseline11', text(), (ctx) => ctx.send(sum(ctx.query, ctx.body)))
      .post('/upload', async (ctx) => {
        ctx.send(await countBytes(ctx.stream({ limit: 32 * 1024 ** 2 })));
      })
      .get('/json/:count', compress(), (ctx) => ctx.json(totals(ctx.params.count, ctx.query)))
      .get('/async-db', async (ctx) => ctx.json(await store.between(ctx.query)));
    app.route('/', router);
    app.route('/crud/items', crud(store));
    app.use(staticFiles({ root: `${folder}/static`, prefix: '/static', precompressed: true }));
    app.use(router.allowedMethods());
    app.use(notFoundHandler());
    const { port } = await listen(app, { port: 0, ...(tls && { tls }) });
    return port;
  },
};

function crud(store: Store): Router {
  return createRouter()
    .get('/', async (ctx) => ctx.json(await store.list(ctx.query)))
    .get('/:id', async (ctx) => {
      const { item, cached } = await store.find(Number(ctx.params.id));
      if (!item) throw new NotFoundError();
      ctx.set('X-Cache', cached).json(item);
    })
    .post('/', json(), async (ctx) => {
      ctx.status = 201;
      ctx.json(await store.create(ctx.body));
    })
    .put('/:id', json(), async (ctx) => {
      const item = await store.update(Number(ctx.params.id), ctx.body);
      if (!item) throw new NotFoundError();
      ctx.json(item);
    });
}
