import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { json } from '@fw/body-parser';
import { markup, readPart } from '@fw/service';
import { type Context, createPartSerializer, createRouter, endpoint, type Router } from 'fw';
import * as z from 'zod';

import { requireUser } from './require-user.ts';
import { NewUserV1, PageQueryV1, toJson, UserChangesV1, UserListV1, UserV1 } from './schemas.ts';
import type { UserPage, UserStore } from './store.ts';
import { createUser, type User } from './user.ts';
import type { UserRoutesOptions } from './v2.ts';

/** Path prefix of version 1. */
export const V1 = '/api/v1/users';

const tags = ['Version 1'];

/** `Content-Security-Policy` of the HTML fragment: it may load nothing. */
const FRAGMENT_POLICY =
  "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const ONE = { schema: z.object({ data: UserV1 }) };

/** Creates the routes of version 1. Its interface never changes. */
export function createUserRoutesV1(
  store: UserStore,
  { authenticate, bodyLimit, ...origins }: UserRoutesOptions,
): Router {
  const router = createRouter();
  if (authenticate) router.use(authenticate);
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
      responses: { 200: { schema: UserListV1 } },
    }),
    (ctx) => sendList(ctx, store),
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
      },
    }),
    async (ctx) => {
      ctx.append('Vary', 'Accept');
      const { id } = ctx.params;
      const user = requireUser(await store.find(id), id);
      if (acceptsHtml(ctx.get('accept'))) {
        ctx.set('Content-Security-Policy', FRAGMENT_POLICY);
        ctx.set('X-Content-Type-Options', 'nosniff');
        return ctx.html(toHtml(user));
      }
      return ctx.json({ data: toJson(user) });
    },
  );

  router.post(
    '/',
    endpoint({
      summary: 'Create a user in version 1',
      operationId: 'createUserV1',
      tags,
      reads: { body: NewUserV1 },
      responses: { 201: ONE },
    }),
    async (ctx) => {
      const user = createUser(readPart(NewUserV1, ctx.body), origins);
      await store.insert(user);
      ctx.status = 201;
      return ctx.json({ data: toJson(user) });
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
      responses: { 200: ONE },
    }),
    async (ctx) => {
      const { id } = ctx.params;
      const changes = readPart(UserChangesV1, ctx.body) ?? {};
      const outcome = await store.update(id, changes, { updatedAt: origins.now() });
      return ctx.json({ data: toJson(requireUser(outcome, id)) });
    },
  );

  router.delete(
    '/:id',
    endpoint({
      summary: 'Delete a user in version 1',
      operationId: 'deleteUserV1',
      tags,
      responses: { 204: {} },
    }),
    async (ctx) => {
      const { id } = ctx.params;
      requireUser(await store.delete(id), id);
      ctx.status = 204;
      ctx.send('');
    },
  );

  return router;
}

/** A user as an HTML fragment. */
function toHtml({ name, email, createdAt, updatedAt }: User): string {
  return markup`<article>
  <h1>${name}</h1>
  <p>${email}</p>
  <p>Created <time>${createdAt.toISOString()}</time>, updated <time>${updatedAt.toISOString()}</time></p>
</article>
`.toString();
}

/** Whether `Accept` contains the text `text/html`, which is all that version 1 examines. */
function acceptsHtml(accept = 'application/json'): boolean {
  return accept.toLowerCase().includes('text/html');
}

const serializeBatch = createPartSerializer(z.array(UserV1));

/**
 * Sends all users, or the requested page, in batches, as fast as the client reads. If the store fails
 * after the first batch, the connection is closed, so that no client mistakes a part for the complete list.
 */
async function sendList(ctx: Context, store: UserStore): Promise<undefined> {
  const isPaged = ctx.query.page !== undefined || ctx.query.limit !== undefined;
  const page = isPaged ? readPart(PageQueryV1, ctx.query) : undefined;
  const { total, ...first } = await store.list(page);
  // At most as many users as exist now, so that the list ends even if users are created meanwhile.
  const limit = page?.limit ?? total;
  /** The members after `data`, given the number of sent users. */
  const rest = (sent: number) =>
    page ? { meta: { total, page: page.page, limit } } : { total: sent };
  if (first.next === undefined) {
    return ctx.json({ data: first.users.map(toJson), ...rest(first.users.length) });
  }

  /** A batch as text, so that its users can be freed while the client reads. */
  const toPiece = ({ users, next }: UserPage) => ({
    text: serializeBatch(ctx, users.map(toJson)).slice(1, -1),
    count: users.length,
    next,
  });
  /** Yields the text of `JSON.stringify` of the complete list in pieces. */
  async function* write(piece: ReturnType<typeof toPiece>): AsyncGenerator<string> {
    let { count: sent, next } = piece;
    yield `{"data":[${piece.text}`;
    while (next !== undefined && sent < limit) {
      // Other requests run between two batches, even if the client reads as fast as they are written.
      await nextTurn();
      const batch = toPiece(await store.page({ after: next, limit: limit - sent }));
      if (batch.count > 0) yield sent === 0 ? batch.text : `,${batch.text}`;
      sent += batch.count;
      next = batch.next;
    }
    yield `],${JSON.stringify(rest(sent)).slice(1)}`;
  }
  ctx.set('Content-Type', 'application/json; charset=utf-8');
  return ctx.send(Readable.from(write(toPiece(first))));
}
