import { Body, Controller, Delete, Get, inject, Param, Patch, Query } from '@fw/controllers';
import { parseMediaType } from '@fw/core/extension';
import { idempotency } from '@fw/middleware/idempotency';
import { etagOf, isConditional, isNotModified, requireMatch } from '@fw/middleware/preconditions';
import { onlyJson } from '@fw/service';
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

import {
  FiguresQuery,
  IfMatchHeaders,
  IfNoneMatchHeaders,
  ListQuery,
  NewUser,
  toJson,
  User,
  UserFigures,
  UserPage,
  UserPatch,
} from './schemas.ts';
import { fromRow } from './store/rows.ts';
import type { UserStore } from './store.ts';
import type { Origins, User as UserState } from './user.ts';
import { Users } from './users.ts';

/** Path prefix of version 2. */
export const V2 = '/api/v2/users';

/** The accepted media types of a merge patch (RFC 7396). */
export const PATCH_TYPES = ['application/merge-patch+json', 'application/json'];

/**
 * Rejects a PATCH of another media type with 415 and `Accept-Patch` (RFC 5789 §2.2): the body parser
 * would read other JSON patch formats as merge patches. Register it before the body parser.
 */
export const onlyMergePatches: Middleware = (ctx, next) => {
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
const ONE = z.object({ data: User });

/** The errors of every route. */
const COMMON = endpoint({ errors: { 503: 'SERVICE_UNAVAILABLE' } });

/** Shared caches must not store users; a client revalidates its copy. */
const privateCache: Middleware = (ctx, next) => {
  ctx.set('Cache-Control', 'private, no-cache');
  return next();
};

/** What a controller cannot have: a route whose middleware needs the store. */
export function createUserRoutesV2(
  users: Users,
  { store, now }: { readonly store: UserStore } & Pick<Origins, 'now'>,
): Router {
  const once = idempotency({
    store: store.idempotency,
    fingerprint: ({ body }) => {
      const { name, email } = body as NewUser;
      return [name, email];
    },
    replay: (ctx, row) => ctx.json(created(ctx, fromRow(row))),
    clock: () => now().getTime(),
  });
  const describe = endpoint({
    summary: 'Create a user',
    description: 'A request that is repeated with the same `Idempotency-Key` creates one user.',
    operationId: 'createUser',
    tags,
    responses: { 201: { schema: ONE, headers: { Location: 'The path of the new user', ...ETAG } } },
    errors: { 409: 'EMAIL_TAKEN' },
  });
  return createRouter()
    .use(onlyJson, privateCache, COMMON)
    .post('/', validate({ body: NewUser }), once, describe, async (ctx) => {
      const { idempotency } = ctx.state;
      return created(ctx, await users.create(ctx.body, { uniqueEmail: true, idempotency }));
    });
}

/** The other routes of version 2. */
@Controller('/', onlyJson, privateCache, COMMON)
export class UserController {
  readonly #users = inject(Users);

  @Get(
    '/',
    endpoint({
      summary: 'List users',
      description:
        'In order of creation. `meta.nextCursor` and `Link` lead to the next page. A page may contain fewer users than `limit` although more follow.',
      operationId: 'listUsers',
      tags,
      responses: {
        200: { schema: UserPage, headers: { Link: 'The next page, with the relation `next`' } },
      },
    }),
  )
  async list(@Query(ListQuery) query: ListQuery, ctx: Context) {
    const { users, nextCursor } = await this.#users.page(query);
    const { limit } = query;
    const data = users.map(toJson);
    if (nextCursor === undefined) return { data, meta: { limit } };
    ctx.append('Link', `<${V2}?${pageQuery(query, nextCursor)}>; rel="next"`);
    return { data, meta: { limit, nextCursor } };
  }

  @Get(
    '/figures',
    endpoint({
      summary: 'Count users',
      description: 'In total, by day of creation and by e-mail domain. May be 10 s old.',
      operationId: 'getUserFigures',
      tags,
      responses: {
        200: {
          schema: z.object({ data: UserFigures }),
          headers: { 'Cache-Control': 'How long the response may be cached' },
        },
      },
    }),
  )
  async figures(@Query(FiguresQuery) query: FiguresQuery, ctx: Context) {
    const data = await this.#users.figures(query);
    ctx.set('Cache-Control', 'public, max-age=10');
    return { data };
  }

  @Get(
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
  )
  async read(@Param('id') id: string, ctx: Context) {
    const user = await this.#users.find(id);
    return isNotModified(ctx, etagOf(user.version)) ? undefined : { data: toJson(user) };
  }

  @Patch(
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
  )
  async change(@Param('id') id: string, @Body(UserPatch) patch: UserPatch, ctx: Context) {
    const ifVersion = await this.#versionFor(ctx, id);
    const user = await this.#users.change(id, patch, { uniqueEmail: true, ifVersion });
    return withETag(ctx, user);
  }

  @Delete(
    '/:id',
    endpoint({
      summary: 'Delete a user',
      operationId: 'deleteUser',
      tags,
      reads: { headers: IfMatchHeaders },
      responses: { 200: { schema: z.object({ success: z.literal(true) }) } },
      errors: { 412: 'PRECONDITION_FAILED' },
    }),
  )
  async remove(@Param('id') id: string, ctx: Context) {
    await this.#users.remove(id, await this.#versionFor(ctx, id));
    return { success: true } as const;
  }

  /** The version that `If-Match` requires; `undefined` without `If-Match`. */
  async #versionFor(ctx: Context, id: string): Promise<number | undefined> {
    if (!isConditional(ctx)) return undefined;
    const { version } = await this.#users.find(id);
    requireMatch(ctx, etagOf(version));
    return version;
  }
}

function created(ctx: Context, user: UserState) {
  ctx.status = 201;
  ctx.set('Location', `${V2}/${user.id}`);
  return withETag(ctx, user);
}

function withETag(ctx: Context, user: UserState) {
  ctx.set('ETag', etagOf(user.version));
  return { data: toJson(user) };
}

function pageQuery({ limit, email }: ListQuery, cursor: string): URLSearchParams {
  return new URLSearchParams({ limit: String(limit), cursor, ...(email && { email }) });
}
