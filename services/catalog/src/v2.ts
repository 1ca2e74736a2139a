import { onlyJson } from '@fw/middleware/negotiate';
import { etagOf, sendNotModified } from '@fw/middleware/preconditions';
import { createCursor, toSearchParams } from '@fw/service';
import { validate } from '@fw/validation';
import {
  type Context,
  createRouter,
  endpoint,
  type Middleware,
  NotFoundError,
  type Router,
} from 'fw';
import * as z from 'zod';

import { type Item, type ItemFilter, ORDERS } from './item.ts';
import {
  FacetsResponse,
  FiguresResponse,
  FilterQuery,
  ItemPageResponse,
  ItemParams,
  ItemResponse,
  ListQuery,
} from './schemas.ts';
import type { CatalogStore, Versioned } from './store.ts';
import { wordsOf } from './words.ts';

/** The path prefix of version 2. */
export const V2 = '/api/v2/catalog';

/** Items change only by imports, so a price that is a minute old is good enough. */
const MAX_AGE = 'max-age=60';

const tags = ['Catalog'];
const CACHED = {
  ETag: 'Version of the catalog; it changes with every import',
  'Cache-Control': 'How long the response may be reused',
};
const reads = {
  headers: z.object({
    'if-none-match': z
      .string()
      .optional()
      .meta({ description: 'Entity tags: 304 if the catalog has not changed' }),
  }),
};

/** The responses of every operation: `schema` describes a 200 response. */
function responsesOf(schema: unknown, headers: Readonly<Record<string, string>> = {}) {
  return {
    200: { schema, headers: { ...CACHED, ...headers } },
    304: { description: 'The response that the client has is current', headers: CACHED },
  };
}

/** Options of the routes of both versions. */
export interface CatalogRoutesOptions {
  /** Default: no route needs a token. */
  readonly authenticate?: Middleware | undefined;
}

/** Creates the routes of version 2. */
export function createCatalogRoutesV2(
  store: CatalogStore,
  { authenticate }: CatalogRoutesOptions = {},
): Router {
  /** Returns the body. Without reading it, responds with 304 if the client has the current version of the catalog. */
  async function bodyOf<Value, Body>(
    ctx: Context,
    read: () => Promise<Versioned<Value>>,
    toBody: (value: Value) => Body,
  ): Promise<Body | undefined> {
    const isConditional = ctx.get('if-none-match') !== undefined;
    const current = isConditional ? await store.version() : undefined;
    // A shared cache would send a public response to clients without a token (RFC 9111 §3.5).
    const cacheControl = `${ctx.state.user ? 'private' : 'public'}, ${MAX_AGE}`;
    if (current !== undefined && sendNotModified(ctx, etagOf(current))) {
      ctx.set('Cache-Control', cacheControl);
      return undefined;
    }
    const { version, value } = await read();
    ctx.set('Cache-Control', cacheControl);
    ctx.set('ETag', etagOf(version));
    return toBody(value);
  }

  function pageBody(ctx: Context, query: ListQuery) {
    const { cursor: position, sort, limit, ...search } = query;
    const order = ORDERS.find((known) => sort.endsWith(known)) ?? 'id';
    // A cursor is valid for the same filter and sort only.
    const list = `items ${toSearchParams({ ...search, sort })}`;
    const cursor = createCursor(list, order === 'name' ? 'string' : 'integer', 'integer');
    const page = {
      filter: filterOf(search),
      order,
      isDescending: sort.startsWith('-'),
      after: position === undefined ? undefined : cursor.decode(position),
      limit,
    };
    return bodyOf(
      ctx,
      () => store.page(page),
      ({ items, next }) => {
        const nextCursor = next && cursor.encode(...next);
        if (nextCursor !== undefined) {
          const nextPage = toSearchParams({ ...query, cursor: nextCursor });
          ctx.append('Link', `<${V2}?${nextPage}>; rel="next"`);
        }
        return { data: items, meta: { limit, nextCursor } };
      },
    );
  }

  const router = createRouter();
  /** The routes of items; the others never need a token. */
  const items = createRouter();
  router.mount('/', items);
  if (authenticate) items.use(authenticate);
  items.use(onlyJson);
  items.get(
    '/',
    endpoint({
      summary: 'List items',
      description:
        'Sorted by `sort`. `meta.nextCursor` and `Link` lead to the next page, if there is one. With a price range, a page may be shorter than `limit` although more pages follow.',
      operationId: 'listItems',
      tags,
      reads,
      responses: responsesOf(ItemPageResponse, { Link: 'The next page, with the relation `next`' }),
    }),
    validate({ query: ListQuery }),
    (ctx) => pageBody(ctx, ctx.query),
  );
  items.get(
    '/facets',
    endpoint({
      summary: 'Count items by category and brand',
      description:
        'The largest counts first. For a search or a price range, at most 5,000 items are counted; otherwise the 10,000 most frequent combinations of a category and a brand. `meta` reports how many.',
      operationId: 'getFacets',
      tags,
      reads,
      responses: responsesOf(FacetsResponse),
    }),
    validate({ query: FilterQuery }),
    (ctx) =>
      bodyOf(
        ctx,
        () => store.facets(filterOf(ctx.query)),
        ({ category, brand, ...meta }) => ({ data: { category, brand }, meta }),
      ),
  );
  router.get(
    '/figures',
    onlyJson,
    endpoint({
      summary: 'Count items and summarize their prices',
      description:
        'In total and by category, the category with the most items first; at most 1,000 entries.',
      operationId: 'getCatalogFigures',
      tags,
      reads,
      responses: responsesOf(FiguresResponse),
    }),
    (ctx) =>
      bodyOf(
        ctx,
        () => store.figures(),
        ({ isExact, ...data }) => ({ data, meta: { isExact } }),
      ),
  );
  items.get(
    '/:id',
    endpoint({
      summary: 'Read an item',
      operationId: 'getItem',
      tags,
      reads,
      responses: responsesOf(ItemResponse),
    }),
    validate({ params: ItemParams }),
    (ctx) =>
      bodyOf(
        ctx,
        () => findItem(store, ctx.params.id),
        (data) => ({ data }),
      ),
  );
  return router;
}

/** The filter of a query, whose `q` is free text. */
function filterOf({ q, ...filter }: FilterQuery): ItemFilter {
  return { ...filter, words: q === undefined ? undefined : wordsOf(q) };
}

/** @throws {NotFoundError} if the item does not exist */
async function findItem(store: CatalogStore, id: number): Promise<Versioned<Item>> {
  const { version, value } = await store.find(id);
  if (!value) throw new NotFoundError(`Item "${id}" not found`);
  return { version, value };
}
