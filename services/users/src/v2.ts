import { json } from '@fw/body-parser';
import { parseMediaType } from '@fw/core/body';
import { idempotency } from '@fw/middleware/idempotency';
import { onlyJson } from '@fw/middleware/negotiate';
import { etagOf, hasIfMatch, requireMatch, sendNotModified } from '@fw/middleware/preconditions';
import { createCursor, toSearchParams } from '@fw/service';
import { validate } from '@fw/validation';
import {
  type Context,
  createRouter,
  endpoint,
  type Middleware,
  type Router,
  UnsupportedMediaTypeError,
} from 'fw';
import * as z from 'zod';

import { requireUser } from './require-user.ts';
import {
  FiguresQuery,
  IfMatchHeaders,
  IfNoneMatchHeaders,
  ListQuery,
  NewUserV2,
  toJson,
  UserFiguresV2,
  UserPageV2,
  UserPatch,
  UserV2,
} from './schemas.ts';
import type { UserStore } from './store.ts';
import { createUser, type NewUser, type Origins, type User } from './user.ts';

/** Path prefix of version 2. */
export const V2 = '/api/v2/users';

/** The accepted media types of a merge patch (RFC 7396). */
export const PATCH_TYPES = ['application/merge-patch+json', 'application/json'];

/**
 * Rejects a PATCH of another media type with 415 and `Accept-Patch` (RFC 5789 §2.2): the body parser
 * would read other JSON patch formats as merge patches. Register it before the body parser.
 */
const onlyMergePatches: Middleware = (ctx, next) => {
  if (ctx.method !== 'PATCH') return next();
  const type = parseMediaType(ctx.get('content-type') ?? '')?.type ?? '';
  if (PATCH_TYPES.includes(type)) return next();
  const types = PATCH_TYPES.join(', ');
  throw new UnsupportedMediaTypeError(`The body must be a merge patch: ${types}`, {
    headers: { 'Accept-Patch': types },
  });
};

const tags = ['Users'];
const ETAG = { ETag: 'The version of the user, in quotes' };
const ONE = z.object({ data: UserV2 });

/** Shared caches must not store users; a client revalidates its copy. */
const privateCache: Middleware = (ctx, next) => {
  ctx.set('Cache-Control', 'private, no-cache');
  return next();
};

/** Options of the routes of both versions. */
export interface UserRoutesOptions extends Origins {
  /** Default: no route needs a token. */
  readonly authenticate?: Middleware | undefined;
  readonly bodyLimit: number;
}

/** Creates the routes of version 2. */
export function createUserRoutesV2(
  store: UserStore,
  { authenticate, bodyLimit, ...origins }: UserRoutesOptions,
): Router {
  /** The version that `If-Match` requires; `undefined` without `If-Match`. */
  async function requiredVersion(ctx: Context, id: string): Promise<number | undefined> {
    if (!hasIfMatch(ctx)) return undefined;
    const { version } = requireUser(await store.find(id), id);
    requireMatch(ctx, etagOf(version));
    return version;
  }

  const router = createRouter();
  /** The routes of persons; the others never need a token. */
  const users = createRouter();
  router.mount('/', users);
  if (authenticate) users.use(authenticate);
  users.use(onlyMergePatches, json({ limit: bodyLimit }), onlyJson, privateCache);

  users.post(
    '/',
    validate({ body: NewUserV2 }),
    idempotency({
      store: store.idempotency,
      fingerprint: ({ body }) => {
        const { name, email } = body as NewUser;
        return [name, email];
      },
      lookUpFirst: false,
      replay: (ctx, text) => ctx.json(created(ctx, store.readCreated(text))),
      clock: () => origins.now().getTime(),
    }),
    endpoint({
      summary: 'Create a user',
      description: 'A request that is repeated with the same `Idempotency-Key` creates one user.',
      operationId: 'createUser',
      tags,
      responses: {
        201: { schema: ONE, headers: { Location: 'The path of the new user', ...ETAG } },
      },
      errors: { 409: 'EMAIL_TAKEN' },
    }),
    async (ctx) => {
      const { idempotency } = ctx.state;
      const user = createUser(ctx.body, origins);
      const outcome = await store.insert(user, { uniqueEmail: true, idempotency });
      return created(ctx, requireUser(outcome, user.id));
    },
  );

  users.get(
    '/',
    endpoint({
      summary: 'List users',
      description:
        'In order of creation. `meta.nextCursor` and `Link` lead to the next page. A page may contain fewer users than `limit` although more follow.',
      operationId: 'listUsers',
      tags,
      responses: {
        200: { schema: UserPageV2, headers: { Link: 'The next page, with the relation `next`' } },
      },
    }),
    validate({ query: ListQuery }),
    async (ctx) => {
      const { limit, cursor: position, ...filter } = ctx.query;
      // A cursor is valid for the same filter only; as in the stores, the case of A to Z does not count.
      const cursor = createCursor(`users ${toSearchParams(filter)}`.toLowerCase(), 'integer');
      const [after] = position === undefined ? [] : cursor.decode(position);
      const { users, next } = await store.page({ after, limit, ...filter });
      const nextCursor = next === undefined ? undefined : cursor.encode(next);
      if (nextCursor !== undefined) {
        const nextPage = toSearchParams({ limit, cursor: nextCursor, ...filter });
        ctx.append('Link', `<${V2}?${nextPage}>; rel="next"`);
      }
      return { data: users.map(toJson), meta: { limit, nextCursor } };
    },
  );

  router.get(
    '/figures',
    onlyJson,
    privateCache,
    endpoint({
      summary: 'Count users',
      description: 'In total, by day of creation and by e-mail domain. May be 10 s old.',
      operationId: 'getUserFigures',
      tags,
      responses: {
        200: {
          schema: z.object({ data: UserFiguresV2 }),
          headers: { 'Cache-Control': 'How long the response may be cached' },
        },
      },
    }),
    validate({ query: FiguresQuery }),
    async (ctx) => {
      const data = await store.figures({ ...ctx.query, now: origins.now() });
      ctx.set('Cache-Control', 'public, max-age=10');
      return { data };
    },
  );

  users.get(
    '/:id',
    endpoint({
      summary: 'Read a user',
      operationId: 'getUser',
      tags,
      reads: { headers: IfNoneMatchHeaders },
      responses: {
        200: { schema: ONE, headers: ETAG },
        304: { description: 'The client already has this version', headers: ETAG },
      },
    }),
    async (ctx) => {
      const { id } = ctx.params;
      const user = requireUser(await store.find(id), id);
      return sendNotModified(ctx, etagOf(user.version)) ? undefined : { data: toJson(user) };
    },
  );

  users.patch(
    '/:id',
    endpoint({
      summary: 'Change a user',
      description:
        'Merge patch (RFC 7396): omitted fields keep their value. Fields cannot be removed.',
      operationId: 'changeUser',
      tags,
      reads: { headers: IfMatchHeaders },
      bodyTypes: PATCH_TYPES,
      responses: {
        200: { schema: ONE, headers: ETAG },
        415: {
          description: 'The body is not a merge patch',
          headers: { 'Accept-Patch': 'The accepted media types' },
        },
      },
      errors: { 409: 'EMAIL_TAKEN', 412: 'PRECONDITION_FAILED' },
    }),
    validate({ body: UserPatch }),
    async (ctx) => {
      const { id } = ctx.params;
      const ifVersion = await requiredVersion(ctx, id);
      const options = { updatedAt: origins.now(), uniqueEmail: true, ifVersion };
      return withETag(ctx, requireUser(await store.update(id, ctx.body, options), id));
    },
  );

  users.delete(
    '/:id',
    endpoint({
      summary: 'Delete a user',
      operationId: 'deleteUser',
      tags,
      reads: { headers: IfMatchHeaders },
      responses: { 200: { schema: z.object({ success: z.literal(true) }) } },
      errors: { 412: 'PRECONDITION_FAILED' },
    }),
    async (ctx) => {
      const { id } = ctx.params;
      requireUser(await store.delete(id, await requiredVersion(ctx, id)), id);
      return { success: true } as const;
    },
  );

  return router;
}

function created(ctx: Context, user: User) {
  ctx.status = 201;
  ctx.set('Location', `${V2}/${user.id}`);
  return withETag(ctx, user);
}

function withETag(ctx: Context, user: User) {
  ctx.set('ETag', etagOf(user.version));
  return { data: toJson(user) };
}
