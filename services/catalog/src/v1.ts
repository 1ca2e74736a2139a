import { readPage } from '@fw/service';
import { createRouter, endpoint, type Router } from 'fw';

import { listItems } from './catalog.ts';
import { ItemPageV1, PAGE_SIZES, PageQueryV1 } from './schemas.ts';
import type { CatalogStore } from './store.ts';

/** The path prefix of version 1. */
export const V1 = '/api/v1/catalog';

/** Creates the routes of version 1. Its interface never changes. */
export function createCatalogRoutesV1(store: CatalogStore): Router {
  const router = createRouter();
  router.get(
    '/',
    endpoint({
      summary: 'List items',
      description: 'Sorted by id.',
      operationId: 'listItemsV1',
      tags: ['Version 1'],
      reads: { query: PageQueryV1 },
      responses: { 200: { schema: ItemPageV1 } },
      errors: { 503: 'SERVICE_UNAVAILABLE' },
    }),
    (ctx) => listItems(store, readPage(ctx.query, PAGE_SIZES)),
  );
  return router;
}
