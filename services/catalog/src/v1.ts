import { readPart } from '@fw/service';
import { createRouter, endpoint, type Router } from 'fw';

import { ItemPageV1, PageQueryV1 } from './schemas.ts';
import type { CatalogStore } from './store.ts';
import type { CatalogRoutesOptions } from './v2.ts';

/** The path prefix of version 1. */
export const V1 = '/api/v1/catalog';

/** Creates the routes of version 1. Its interface never changes. */
export function createCatalogRoutesV1(
  store: CatalogStore,
  { authenticate }: CatalogRoutesOptions = {},
): Router {
  const router = createRouter();
  if (authenticate) router.use(authenticate);
  router.get(
    '/',
    endpoint({
      summary: 'List items',
      description: 'Sorted by id.',
      operationId: 'listItemsV1',
      tags: ['Version 1'],
      reads: { query: PageQueryV1 },
      responses: { 200: { schema: ItemPageV1 } },
    }),
    async (ctx) => {
      const { page, ...slice } = readPart(PageQueryV1, ctx.query);
      const { items, total } = await store.list(slice);
      const { limit } = slice;
      const totalPages = Math.ceil(total / limit);
      return { items, page, limit, total, totalPages, hasNextPage: page < totalPages };
    },
  );
  return router;
}
