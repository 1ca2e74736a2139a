import { documented } from '@fw/openapi';
import { jsonTime, readPage } from '@fw/service';
import { type Context, createRouter, type Query, type Router } from 'fw';
import * as z from 'zod';

import { userFragment } from './html.ts';
import { readNewUser, readUserChanges } from './read-user.ts';
import {
  NewUserV1,
  PageQueryV1,
  STORE_AWAY,
  UserChangesV1,
  UserListV1,
  UserV1,
} from './schemas.ts';
import type { UserStore } from './store.ts';
import { createUser, type Origins, type User } from './user.ts';
import { sendList } from './user-list.ts';
import { unknownUser } from './users.ts';

const tags = ['Version 1'];
const headers = {
  Deprecation: 'Since when this version is deprecated (RFC 9745)',
  Link: 'The same path in version 2, with the relation `successor-version`',
};
const ONE = { schema: z.object({ data: UserV1 }), headers };

/** The first version of the API, whose shapes never change. */
export function userRoutes(store: UserStore, origins: Origins): Router {
  const router = createRouter();

  router.get(
    '/',
    documented({
      summary: 'List users in version 1',
      description:
        'All of them, or a page of them if `page` or `limit` is there. A long list is streamed: its `total` is the number of users in it.',
      operationId: 'listUsersV1',
      tags,
      deprecated: true,
      reads: { query: PageQueryV1 },
      responses: { 200: { schema: UserListV1, headers }, ...STORE_AWAY },
    }),
    async (ctx) => {
      if (isPaged(ctx.query)) await sendPage(ctx, store);
      else await sendAll(ctx, store);
    },
  );

  router.get(
    '/:id',
    documented({
      summary: 'Read a user in version 1',
      description: 'As an HTML fragment if `Accept` has `text/html`.',
      operationId: 'getUserV1',
      tags,
      deprecated: true,
      responses: { 200: { ...ONE, mediaTypes: ['application/json', 'text/html'] }, ...STORE_AWAY },
    }),
    async (ctx) => {
      ctx.append('Vary', 'Accept');
      const user = found(await store.find(ctx.params.id), ctx.params.id);
      if (acceptsHtml(ctx.get('accept'))) ctx.html(userFragment(user));
      else ctx.json({ data: toV1(user) });
    },
  );

  router.post(
    '/',
    documented({
      summary: 'Create a user in version 1',
      operationId: 'createUserV1',
      tags,
      deprecated: true,
      reads: { body: NewUserV1 },
      responses: { 201: ONE, ...STORE_AWAY },
    }),
    async (ctx) => {
      const user = createUser(readNewUser(ctx.body), origins);
      await store.insert(user);
      ctx.status = 201;
      ctx.json({ data: toV1(user) });
    },
  );

  router.put(
    '/:id',
    documented({
      summary: 'Change a user in version 1',
      description: 'Fields that the body leaves out stay as they are.',
      operationId: 'changeUserV1',
      tags,
      deprecated: true,
      reads: { body: UserChangesV1 },
      responses: { 200: ONE, ...STORE_AWAY },
    }),
    async (ctx) => {
      const changes = readUserChanges(ctx.body);
      const user = await store.update(ctx.params.id, changes, origins.now());
      ctx.json({ data: toV1(found(user, ctx.params.id)) });
    },
  );

  router.delete(
    '/:id',
    documented({
      summary: 'Delete a user in version 1',
      operationId: 'deleteUserV1',
      tags,
      deprecated: true,
      responses: { 204: { headers }, ...STORE_AWAY },
    }),
    async (ctx) => {
      const outcome = await store.delete(ctx.params.id);
      if (outcome === 'missing') throw unknownUser(ctx.params.id);
      ctx.status = 204;
      ctx.send('');
    },
  );

  return router;
}

/** A user in the shape that version 1 keeps for ever. */
function toV1({ id, name, email, createdAt, updatedAt }: User) {
  return { id, name, email, createdAt: jsonTime(createdAt), updatedAt: jsonTime(updatedAt) };
}

function isPaged(query: Query): boolean {
  return query.page !== undefined || query.limit !== undefined;
}

/** As many users as there are now: the list ends even if more are created while it is sent. */
async function sendAll(ctx: Context, store: UserStore): Promise<void> {
  const list = await store.list();
  sendList(ctx, store, { list, limit: list.total, toJson: toV1, rest: (total) => ({ total }) });
}

async function sendPage(ctx: Context, store: UserStore): Promise<void> {
  const { page, limit, start } = readPage(ctx.query, { defaultLimit: 10 });
  const list = await store.list({ start, limit });
  const meta = { total: list.total, page, limit };
  sendList(ctx, store, { list, limit, toJson: toV1, rest: () => ({ meta }) });
}

/** Every browser sends `text/html`, so whatever else is in there counts for less. */
function acceptsHtml(accept = 'application/json'): boolean {
  return accept.toLowerCase().includes('text/html');
}

function found(user: User | undefined, id: string): User {
  if (!user) throw unknownUser(id);
  return user;
}
