import { json } from '@fw/body-parser';
import { readPage, STORE_UNAVAILABLE } from '@fw/service';
import { type Context, createRouter, endpoint, type Query, type Router } from 'fw';
import * as z from 'zod';

import { NewUserV1, PageQueryV1, UserChangesV1, UserListV1, UserV1 } from './schemas.ts';
import type { User } from './user.ts';
import type { Users } from './users.ts';
import { userFragment } from './v1/html.ts';
import { readNewUser, readUserChanges } from './v1/read-user.ts';
import { sendList } from './v1/user-list.ts';

const tags = ['Version 1'];

/** The fragment loads nothing. */
const FRAGMENT_POLICY =
  "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const ONE = { schema: z.object({ data: UserV1 }) };

export interface UserRoutesV1Options {
  /** Maximum size of a request body, in bytes. */
  readonly bodyLimit: number;
}

/** Creates the routes of version 1. Its interface never changes. */
export function createUserRoutesV1(users: Users, { bodyLimit }: UserRoutesV1Options): Router {
  const router = createRouter();
  router.use(json({ limit: bodyLimit }));

  router.get(
    '/',
    endpoint({
      summary: 'List users in version 1',
      description:
        'All users, or one page if `page` or `limit` is present. A long list is streamed; `total` is the number of users in the response.',
      operationId: 'listUsersV1',
      tags,
      reads: { query: PageQueryV1 },
      responses: { 200: { schema: UserListV1 }, ...STORE_UNAVAILABLE },
    }),
    async (ctx) => {
      if (isPaged(ctx.query)) return sendPage(ctx, users);
      return sendAll(ctx, users);
    },
  );

  router.get(
    '/:id',
    endpoint({
      summary: 'Read a user in version 1',
      description: 'As an HTML fragment if `Accept` contains `text/html`.',
      operationId: 'getUserV1',
      tags,
      responses: {
        200: { ...ONE, mediaTypes: ['application/json', 'text/html'] },
        ...STORE_UNAVAILABLE,
      },
    }),
    async (ctx) => {
      ctx.append('Vary', 'Accept');
      const user = await users.find(ctx.params.id);
      if (acceptsHtml(ctx.get('accept'))) {
        ctx.set('Content-Security-Policy', FRAGMENT_POLICY);
        ctx.set('X-Content-Type-Options', 'nosniff');
        return ctx.html(userFragment(user));
      }
      return ctx.json({ data: toV1(user) });
    },
  );

  router.post(
    '/',
    endpoint({
      summary: 'Create a user in version 1',
      operationId: 'createUserV1',
      tags,
      reads: { body: NewUserV1 },
      responses: { 201: ONE, ...STORE_UNAVAILABLE },
    }),
    async (ctx) => {
      const user = await users.createV1(readNewUser(ctx.body));
      ctx.status = 201;
      return ctx.json({ data: toV1(user) });
    },
  );

  router.put(
    '/:id',
    endpoint({
      summary: 'Change a user in version 1',
      description: 'Omitted fields keep their value.',
      operationId: 'changeUserV1',
      tags,
      reads: { body: UserChangesV1 },
      responses: { 200: ONE, ...STORE_UNAVAILABLE },
    }),
    async (ctx) => {
      const user = await users.changeV1(ctx.params.id, readUserChanges(ctx.body));
      return ctx.json({ data: toV1(user) });
    },
  );

  router.delete(
    '/:id',
    endpoint({
      summary: 'Delete a user in version 1',
      operationId: 'deleteUserV1',
      tags,
      responses: { 204: {}, ...STORE_UNAVAILABLE },
    }),
    async (ctx) => {
      await users.remove(ctx.params.id);
      ctx.status = 204;
      ctx.send('');
    },
  );

  return router;
}

/** A user in the shape of version 1. */
function toV1({ id, name, email, createdAt, updatedAt }: User) {
  return {
    id,
    name,
    email,
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  };
}

function isPaged(query: Query): boolean {
  return query.page !== undefined || query.limit !== undefined;
}

/** Sends at most as many users as exist now, so that the list ends even if users are created meanwhile. */
async function sendAll(ctx: Context, users: Users): Promise<undefined> {
  const list = await users.list();
  return sendList(ctx, users, {
    list,
    limit: list.total,
    toJson: toV1,
    rest: (total) => ({ total }),
  });
}

async function sendPage(ctx: Context, users: Users): Promise<undefined> {
  const { page, limit, start } = readPage(ctx.query, { defaultLimit: 10 });
  const list = await users.list({ start, limit });
  const meta = { total: list.total, page, limit };
  return sendList(ctx, users, { list, limit, toJson: toV1, rest: () => ({ meta }) });
}

/** Whether `Accept` contains the text `text/html`, which is all that version 1 examines. */
function acceptsHtml(accept = 'application/json'): boolean {
  return accept.toLowerCase().includes('text/html');
}
