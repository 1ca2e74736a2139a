import {
  type Item,
  type ItemFilter,
  ORDERS,
  type Order,
  type Place,
} from '@fw/catalog/src/item.ts';
import { FilterQuery, ItemParams, ListQuery } from '@fw/catalog/src/schemas.ts';
import type { CatalogStore, Versioned } from '@fw/catalog/src/store.ts';
import { wordsOf } from '@fw/catalog/src/words.ts';
import { type Cursor, createCursor, readPage } from '@fw/service';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { NotFoundError } from 'fw';

import { answers, integer, listOf, objectOf, text, truth } from './answers.ts';
import { expectAcceptsJson, isNotModified } from './requests.ts';
import { announceSuccessor } from './version-one.ts';

const V1 = '/api/v1/catalog';
const V2 = '/api/v2/catalog';

const item = objectOf({
  id: integer,
  name: text,
  category: text,
  brand: text,
  priceCents: integer,
  currency: text,
  description: text,
  tags: listOf(text),
});

/** The catalog service on fastify: its routes are written anew, what lies below them is the same. */
export function catalogRoutes(app: FastifyInstance, store: CatalogStore): void {
  app.register(async (v1) => versionOne(v1, store), { prefix: V1 });
  app.register(async (v2) => versionTwo(v2, store), { prefix: V2 });
}

function versionOne(app: FastifyInstance, store: CatalogStore): void {
  announceSuccessor(app, V1, V2);
  const page = answers({
    200: {
      items: listOf(objectOf({ id: integer, name: text })),
      page: integer,
      limit: integer,
      total: integer,
      totalPages: integer,
      hasNextPage: truth,
    },
  });
  app.get<{ Querystring: Record<string, string | string[]> }>(
    '/',
    { schema: page },
    async ({ query }) => {
      const { page, limit, start } = readPage(query, { defaultLimit: 20 });
      const { items, total } = await store.list({ start, limit });
      const totalPages = Math.ceil(total / limit);
      return { items, page, limit, total, totalPages, hasNextPage: page < totalPages };
    },
  );
}

function versionTwo(plain: FastifyInstance, store: CatalogStore): void {
  const app = plain.withTypeProvider<ZodTypeProvider>();
  app.addHook('onRequest', (request, reply, done) => {
    expectAcceptsJson(request);
    reply.header('vary', 'Accept').header('cache-control', 'public, max-age=60');
    done();
  });

  const meta = objectOf({ limit: integer, nextCursor: text });
  app.get(
    '/',
    { schema: { querystring: ListQuery, ...answers({ 200: { data: listOf(item), meta } }) } },
    (request, reply) => answer(request, reply, store, () => listPage(reply, store, request.query)),
  );

  const counts = listOf(objectOf({ value: text, count: integer }));
  const facets = answers({
    200: {
      data: objectOf({ category: counts, brand: counts }),
      meta: objectOf({ counted: integer, isExact: truth }),
    },
  });
  app.get('/facets', { schema: { querystring: FilterQuery, ...facets } }, (request, reply) =>
    answer(request, reply, store, async () => {
      const { version, value } = await store.facets(toFilter(request.query));
      const { category, brand, ...rest } = value;
      return { version, value: { data: { category, brand }, meta: rest } };
    }),
  );

  const category = objectOf({
    category: text,
    currency: text,
    items: integer,
    minPriceCents: integer,
    medianPriceCents: integer,
    maxPriceCents: integer,
  });
  const figures = answers({
    200: {
      data: objectOf({ total: integer, byCategory: listOf(category) }),
      meta: objectOf({ isExact: truth }),
    },
  });
  app.get('/figures', { schema: figures }, (request, reply) =>
    answer(request, reply, store, async () => {
      const { version, value } = await store.figures();
      const { isExact, ...data } = value;
      return { version, value: { data, meta: { isExact } } };
    }),
  );

  app.get(
    '/:id',
    { schema: { params: ItemParams, ...answers({ 200: { data: item } }) } },
    (request, reply) => answer(request, reply, store, () => readItem(store, request.params.id)),
  );
}

async function answer(
  request: FastifyRequest,
  reply: FastifyReply,
  store: CatalogStore,
  read: () => Promise<Versioned<unknown>>,
): Promise<unknown> {
  if (request.headers['if-none-match'] !== undefined) {
    const present = await store.version();
    if (isNotModified(request, reply, `"${present}"`)) return reply;
  }
  const { version, value } = await read();
  reply.header('etag', `"${version}"`);
  return value;
}

async function readItem(store: CatalogStore, id: number): Promise<Versioned<{ data: Item }>> {
  const { version, value } = await store.find(id);
  if (!value) throw new NotFoundError(`Item "${id}" not found`);
  return { version, value: { data: value } };
}

async function listPage(reply: FastifyReply, store: CatalogStore, query: ListQuery) {
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
    reply.header('link', `<${V2}?${searchOf({ ...query, cursor: nextCursor })}>; rel="next"`);
  }
  return { version, value: { data: value.items, meta: { limit, nextCursor } } };
}

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

function searchOf(query: Partial<ListQuery>): URLSearchParams {
  const set = Object.entries(query).filter(([, value]) => value !== undefined);
  return new URLSearchParams(set.map(([name, value]) => [name, String(value)]));
}
