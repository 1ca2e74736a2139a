import { createServer } from 'node:https';
import { serve } from '@hono/node-server';
import { serveStatic } from '@hono/node-server/serve-static';
import { Hono } from 'hono';
import { compress } from 'hono/compress';

import type { Contestant } from '../contestant.ts';
import { received, type Store, sum, totals } from '../items.ts';

export const contestant: Contestant = {
  packages: ['hono', '@hono/node-server'],
  start({ store, folder, tls }) {
    const app = new Hono()
      .get('/pipeline', (c) => c.text('ok'))
      .get('/baseline11', (c) => c.text(sum(c.req.query())))
      .post('/baseline11', async (c) => c.text(sum(c.req.query(), await c.req.text())))
      .post('/upload', async (c) => {
        let bytes = 0;
        for await (const chunk of c.req.raw.body ?? []) {
          bytes += chunk.length;
          received.bytes += chunk.length;
        }
        return c.text(String(bytes));
      })
      .get('/json/:count', compress(), (c) => c.json(totals(c.req.param('count'), c.req.query())))
      .get('/async-db', async (c) => c.json(await store.between(c.req.query())))
      .use('/static/*', serveStatic({ root: folder, precompressed: true }))
      .route('/crud/items', crud(store));
    const options = tls && { createServer, serverOptions: tls };
    return new Promise((resolve) => {
      serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1', ...options }, ({ port }) =>
        resolve(port),
      );
    });
  },
};

function crud(store: Store): Hono {
  return new Hono()
    .get('/', async (c) => c.json(await store.list(c.req.query())))
    .get('/:id', async (c) => {
      const { item, cached } = await store.find(Number(c.req.param('id')));
      if (!item) return c.notFound();
      c.header('X-Cache', cached);
      return c.json(item);
    })
    .post('/', async (c) => c.json(await store.create(await c.req.json()), 201))
    .put('/:id', async (c) => {
      const item = await store.update(Number(c.req.param('id')), await c.req.json());
      return item ? c.json(item) : c.notFound();
    });
}
