import { documented } from '@fw/openapi';
import { readPage } from '@fw/service';
import { createRouter, type Query, type Router } from 'fw';

import { ItemPageV1, PageQueryV1, STORE_AWAY } from './schemas.ts';
import type { CatalogStore } from './store.ts';

/** Where version 1 stands. */
export const V1 = '/api/v1/catalog';

/** The first version of the API, whose shapes never change. */
export function catalogRoutesV1(store: CatalogStore): Router {
  const router = createRouter();
  router.get(
    '/',
    documented({
      summary: 'List items',
      description: 'In the order of their ids, page by page.',
      operationId: 'listItemsV1',
      tags: ['Version 1'],
      deprecated: true,
      reads: { query: PageQueryV1 },
      responses: { 200: { schema: ItemPageV1 }, ...STORE_AWAY },
    }),
    async (ctx) => ctx.json(await listPage(store, ctx.query)),
  );
  return router;
}

async function listPage(store: CatalogStore, query: Query) {
  const { page, limit, start } = readPage(query, { defaultLimit: 20 });
  const { items, total } = await store.list({ start, limit });
  const totalPages = Math.ceil(total / limit);
  return { items, page, limit, total, totalPages, hasNextPage: page < totalPages };
}
