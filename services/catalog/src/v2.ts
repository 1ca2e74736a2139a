import { negotiate } from '@fw/middleware/negotiate';
import { etagOf, isNotModified } from '@fw/middleware/preconditions';
import { documented } from '@fw/openapi';
import { type Cursor, createCursor } from '@fw/service';
import { validate } from '@fw/validation';
import { type Context, createRouter, type Middleware, NotFoundError, type Router } from 'fw';
import * as z from 'zod';

import { type ItemFilter, ORDERS, type Order, type Place } from './item.ts';
import {
  Facets,
  Figures,
  FilterQuery,
  Item,
  ItemPage,
  ItemParams,
  ListQuery,
  STORE_AWAY,
} from './schemas.ts';
import type { CatalogStore, Versioned } from './store.ts';
import { wordsOf } from './words.ts';

/** Where version 2 stands: `Link` is relative to the edge's origin, as it is. */
export const V2 = '/api/v2/catalog';

/** Items change by imports only, and nobody is hurt by a price of a minute ago. */
const CACHE_CONTROL = 'public, max-age=60';

const tags = ['Catalog'];
const CACHED = {
  ETag: 'The catalog that the answer is from: another one after each import',
  'Cache-Control': 'How long the answer will do',
};
const ERRORS = {
  406: { description: 'Answers are JSON, which `Accept` leaves out' },
  ...STORE_AWAY,
};
const reads = {
  headers: z.object({
    'if-none-match': z
      .string()
      .optional()
      .meta({ description: 'Entity tags: 304 if the catalog is still the same' }),
  }),
};

function answersOf(schema: unknown, headers: Readonly<Record<string, string>> = {}) {
  return {
    200: { schema, headers: { ...CACHED, ...headers } },
    304: { description: 'The client has this answer already', headers: CACHED },
    ...ERRORS,
  };
}

const onlyJson: Middleware = (ctx, next) => {
  negotiate(ctx, ['application/json']);
  return next();
};

/** Version 2 of the API. */
export function catalogRoutes(store: CatalogStore): Router {
  const router = createRouter();
  router.use(onlyJson);
  router.get(
    '/',
    documented({
      summary: 'List items',
      description:
        'In the order of `sort`, page by page: `meta.nextCursor` and `Link` lead to the page after this one, as long as there is one. With limits of the price a page may be a short one though others follow.',
      operationId: 'listItems',
      tags,
      reads,
      responses: answersOf(ItemPage, { Link: 'The next page, with the relation `next`' }),
    }),
    validate({ query: ListQuery }),
    (ctx) => answer(ctx, store, () => listPage(ctx, store, ctx.query)),
  );
  router.get(
    '/facets',
    documented({
      summary: 'Count items by category and brand',
      description: `The most frequent ones first. Of a search or limits of the price at most 5,000 items are counted, otherwise the 10,000 most frequent combinations of a category and a brand; \`meta\` says so.`,
      operationId: 'getFacets',
      tags,
      reads,
      responses: answersOf(Facets),
    }),
    validate({ query: FilterQuery }),
    (ctx) =>
      answer(ctx, store, async () => {
        const { version, value } = await store.facets(toFilter(ctx.query));
        const { category, brand, ...meta } = value;
        return { version, value: { data: { category, brand }, meta } };
      }),
  );
  router.get(
    '/figures',
    documented({
      summary: 'Count items and tell their prices',
      description:
        'In all and by category, the one with the most items first; at most 1,000 entries.',
      operationId: 'getCatalogFigures',
      tags,
      reads,
      responses: answersOf(Figures),
    }),
    (ctx) =>
      answer(ctx, store, async () => {
        const { version, value } = await store.figures();
        const { isExact, ...data } = value;
        return { version, value: { data, meta: { isExact } } };
      }),
  );
  router.get(
    '/:id',
    documented({
      summary: 'Read an item',
      operationId: 'getItem',
      tags,
      reads,
      responses: answersOf(z.object({ data: Item })),
    }),
    validate({ params: ItemParams }),
    (ctx) => answer(ctx, store, () => readItem(store, ctx.params.id)),
  );
  return router;
}

/** Answers 304 without asking for the rest, if the client knows what the present catalog says. */
async function answer(
  ctx: Context,
  store: CatalogStore,
  read: () => Promise<Versioned<unknown>>,
): Promise<void> {
  if (ctx.get('if-none-match') !== undefined) {
    const present = await store.version();
    if (isNotModified(ctx, etagOf(present))) {
      ctx.set('Cache-Control', CACHE_CONTROL);
      return;
    }
  }
  const { version, value } = await read();
  ctx.set('Cache-Control', CACHE_CONTROL);
  ctx.set('ETag', etagOf(version));
  ctx.json(value);
}

async function readItem(store: CatalogStore, id: number): Promise<Versioned<unknown>> {
  const { version, value } = await store.find(id);
  if (!value) throw new NotFoundError(`Item "${id}" not found`);
  return { version, value: { data: value } };
}

async function listPage(
  ctx: Context,
  store: CatalogStore,
  query: ListQuery,
): Promise<Versioned<unknown>> {
  const { sort, limit } = query;
  const cursor = cursorOf(query);
  const { version, value } = await store.page({
    filter: toFilter(query),
    order: orderOf(sort),
    isDescending: sort.startsWith('-'),
    after: query.cursor === undefined ? undefined : cursor.decode(query.cursor),
    limit,
  });
  const nextCursor = value.next && cursor.encode(value.next);
  if (nextCursor !== undefined) {
    ctx.append('Link', `<${V2}?${searchOf({ ...query, cursor: nextCursor })}>; rel="next"`);
  }
  return { version, value: { data: value.items, meta: { limit, nextCursor } } };
}

/** The cursors of one choice of items in one order. */
function cursorOf({ cursor: _cursor, limit: _limit, ...list }: ListQuery) {
  const name = `items ${searchOf(list)}`;
  const keyType = orderOf(list.sort) === 'name' ? 'string' : 'integer';
  const cursor: Cursor<['integer' | 'string', 'integer']> = createCursor(name, keyType, 'integer');
  return {
    encode: ({ key, id }: Place) => cursor.encode(key, id),
    decode(text: string): Place {
      const [key, id] = cursor.decode(text);
      return { key, id };
    },
  };
}

function orderOf(sort: ListQuery['sort']): Order {
  return ORDERS.find((order) => sort.endsWith(order)) ?? 'id';
}

function toFilter({ q, ...rest }: FilterQuery): ItemFilter {
  const { category, brand, minPrice, maxPrice } = rest;
  return { words: q === undefined ? undefined : wordsOf(q), category, brand, minPrice, maxPrice };
}

/** The query again, without what is not set. */
function searchOf(query: Partial<ListQuery>): URLSearchParams {
  const set = Object.entries(query).filter(([, value]) => value !== undefined);
  return new URLSearchParams(set.map(([name, value]) => [name, String(value)]));
}
