import { readPage } from '@fw/service';
import { createRouter, type Query, type Router } from 'fw';

import type { CatalogStore } from './store.ts';

/** The first version of the API, whose shapes never change. */
export function catalogRoutes(store: CatalogStore): Router {
  const router = createRouter();
  router.get('/', async (ctx) => {
    ctx.json(await listPage(store, ctx.query));
  });
  return router;
}

async function listPage(store: CatalogStore, query: Query) {
  const { page, limit, start } = readPage(query, { defaultLimit: 20 });
  const { items, total } = await store.list({ start, limit });
  const totalPages = Math.ceil(total / limit);
  return { items, page, limit, total, totalPages, hasNextPage: page < totalPages };
}
