import { readPage } from '@fw/service';
import { userFragment } from '@fw/users/src/html.ts';
import { readNewUser, readUserChanges } from '@fw/users/src/read-user.ts';
import {
  CreateHeaders,
  FiguresQuery,
  ListQuery,
  NewUser,
  UserPatch,
} from '@fw/users/src/schemas.ts';
import type { UserStore } from '@fw/users/src/store.ts';
import { createUser, type Origins, type User } from '@fw/users/src/user.ts';
import { Users, unknownUser } from '@fw/users/src/users.ts';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { PreconditionFailedError } from 'fw';
import type { z } from 'zod';

import { answers, date, integer, listOf, objectOf, text, truth } from './answers.ts';
import { expectAcceptsJson, isNotModified } from './requests.ts';
import { announceSuccessor } from './version-one.ts';

const V1 = '/api/v1/users';
const V2 = '/api/v2/users';

const ORIGINS: Origins = { newId: () => crypto.randomUUID(), now: () => new Date() };

const fieldsV1 = { id: text, name: text, email: text, createdAt: date, updatedAt: date };
const userV1 = objectOf(fieldsV1);
const user = objectOf({ ...fieldsV1, version: integer });

interface ById {
  Params: { id: string };
}

/** The users service on fastify: its routes are written anew, what lies below them is the same. */
export function userRoutes(app: FastifyInstance, store: UserStore): void {
  app.register(async (v1) => versionOne(v1, store), { prefix: V1 });
  app.register(async (v2) => versionTwo(v2, new Users(store, ORIGINS)), { prefix: V2 });
}

function versionOne(plain: FastifyInstance, store: UserStore): void {
  const app = plain.withTypeProvider<ZodTypeProvider>();
  announceSuccessor(plain, V1, V2);
  const one = answers({ 200: { data: userV1 }, 201: { data: userV1 } });
  const meta = objectOf({ total: integer, page: integer, limit: integer });
  const many = { schema: answers({ 200: { data: listOf(userV1), meta, total: integer } }) };

  app.get<{ Querystring: Record<string, string | string[]> }>('/', many, async (request) => {
    const { query } = request;
    if (query.page === undefined && query.limit === undefined) {
      const list = await store.list();
      const users = [...list.users];
      for (let { next } = list; next !== undefined; ) {
        const page = await store.page({ after: next, limit: list.total });
        users.push(...page.users);
        next = page.next;
      }
      return { data: users, total: users.length };
    }
    const { page, limit, start } = readPage(query, { defaultLimit: 10 });
    const { users, total } = await store.list({ start, limit });
    return { data: users, meta: { total, page, limit } };
  });

  app.get<ById>('/:id', { schema: one }, async (request, reply) => {
    reply.header('vary', 'Accept');
    const { id } = request.params;
    const data = found(await store.find(id), id);
    if (!request.headers.accept?.toLowerCase().includes('text/html')) return { data };
    return reply.type('text/html; charset=utf-8').send(userFragment(data));
  });

  app.post('/', { schema: one }, async (request, reply) => {
    const data = createUser(readNewUser(request.body), ORIGINS);
    await store.insert(data);
    reply.code(201);
    return { data };
  });

  app.put<ById>('/:id', { schema: one }, async (request) => {
    const { id } = request.params;
    const data = await store.update(id, readUserChanges(request.body), ORIGINS.now());
    return { data: found(data, id) };
  });

  app.delete<ById>('/:id', async (request, reply) => {
    const { id } = request.params;
    if ((await store.delete(id)) === 'missing') throw unknownUser(id);
    return reply.code(204).send();
  });
}

function versionTwo(plain: FastifyInstance, users: Users): void {
  const app = plain.withTypeProvider<ZodTypeProvider>();
  app.addHook('onRequest', (request, reply, done) => {
    expectAcceptsJson(request);
    reply.header('vary', 'Accept').header('cache-control', 'private, no-cache');
    done();
  });
  const one = answers({ 200: { data: user }, 201: { data: user } });
  const meta = objectOf({ limit: integer, nextCursor: text });

  app.get(
    '/',
    { schema: { querystring: ListQuery, ...answers({ 200: { data: listOf(user), meta } }) } },
    async ({ query }, reply) => {
      const { users: data, nextCursor } = await users.page(query);
      const { limit, email } = query;
      if (nextCursor === undefined) return { data, meta: { limit } };
      const next = { limit: String(limit), cursor: nextCursor, ...(email && { email }) };
      reply.header('link', `<${V2}?${new URLSearchParams(next)}>; rel="next"`);
      return { data, meta: { limit, nextCursor } };
    },
  );

  const byDay = listOf(objectOf({ date: text, count: integer }));
  const byDomain = listOf(objectOf({ domain: text, count: integer }));
  const figures = objectOf({ total: integer, byDay, byDomain });
  app.get(
    '/figures',
    { schema: { querystring: FiguresQuery, ...answers({ 200: { data: figures } }) } },
    async ({ query }, reply) => {
      const data = await users.figures(query);
      reply.header('cache-control', 'public, max-age=10');
      return { data };
    },
  );

  app.get<ById>('/:id', { schema: one }, async (request, reply) => {
    const data = await users.find(request.params.id);
    return isNotModified(request, reply, `"${data.version}"`) ? reply : { data };
  });

  app.post(
    '/',
    { schema: { body: NewUser, headers: CreateHeaders, ...one } },
    async (request, reply) => {
      const data = await users.create(request.body, request.headers['idempotency-key']);
      reply.code(201).header('location', `${V2}/${data.id}`);
      return tagged(reply, data);
    },
  );

  app.patch<ById & { Body: z.output<typeof UserPatch> }>(
    '/:id',
    { schema: { body: UserPatch, ...one } },
    async (request, reply) => {
      const { id } = request.params;
      const ifVersion = await versionFor(users, id, request.headers['if-match']);
      return tagged(reply, await users.change(id, request.body, ifVersion));
    },
  );

  app.delete<ById>('/:id', { schema: answers({ 200: { success: truth } }) }, async (request) => {
    const { id } = request.params;
    await users.remove(id, await versionFor(users, id, request.headers['if-match']));
    return { success: true };
  });
}

function tagged(reply: FastifyReply, data: User): { data: User } {
  reply.header('etag', `"${data.version}"`);
  return { data };
}

async function versionFor(users: Users, id: string, condition: string | undefined) {
  if (condition === undefined || condition.trim() === '*') return undefined;
  const { version } = await users.find(id);
  if (condition.split(/,\s*/).includes(`"${version}"`)) return version;
  throw new PreconditionFailedError('the resource has changed');
}

function found(data: User | undefined, id: string): User {
  if (!data) throw unknownUser(id);
  return data;
}
