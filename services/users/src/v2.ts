import { Body, Controller, Delete, Get, inject, Param, Patch, Post, Query } from '@fw/controllers';
import { negotiate } from '@fw/middleware/negotiate';
import {
  etagOf,
  IF_MATCH_PATTERN,
  isConditional,
  isNotModified,
  requireMatch,
} from '@fw/middleware/preconditions';
import { documented } from '@fw/openapi';
import { jsonTime } from '@fw/service';
import { validate } from '@fw/validation';
import type { Context, Middleware } from 'fw';
import * as z from 'zod';

import { PATCH_TYPES } from './merge-patch.ts';
import {
  CreateHeaders,
  FiguresQuery,
  ListQuery,
  NewUser,
  STORE_AWAY,
  User,
  UserFigures,
  UserPage,
  UserPatch,
} from './schemas.ts';
import type { User as UserState } from './user.ts';
import { Users } from './users.ts';

/** Where version 2 stands: `Location` and `Link` are relative to the edge's origin, as it is. */
export const V2 = '/api/v2/users';

const tags = ['Users'];
const ETAG = { ETag: 'The state of the user: its `version` in quotes' };
const ONE = z.object({ data: User });
const IF_MATCH = z.object({
  'if-match': z
    .string()
    .regex(IF_MATCH_PATTERN)
    .optional()
    .meta({
      description:
        'Entity tags, or `*`: the change is made only if the user is still in such a state. A malformed value is a 400.',
      examples: ['"1"'],
    }),
});
const IF_NONE_MATCH = z.object({
  'if-none-match': z
    .string()
    .optional()
    .meta({
      description:
        'Entity tags: 304 if the user is still in such a state. A malformed value is ignored.',
      examples: ['"1"'],
    }),
});
const UNACCEPTABLE = { 406: { description: 'Answers are JSON, which `Accept` leaves out' } };
const TAKEN = { 409: { description: 'Another user has this e-mail address, whatever its case' } };
const STALE = { 412: { description: 'The user is in another state than `If-Match` names' } };
const COMMON = { ...UNACCEPTABLE, ...STORE_AWAY };

/** Version 2 has one representation; users are nobody's to keep but the client's own. */
const onlyJson: Middleware = (ctx, next) => {
  negotiate(ctx, ['application/json']);
  ctx.set('Cache-Control', 'private, no-cache');
  return next();
};

/** Version 2 of the API. */
@Controller('/', onlyJson)
export class UserController {
  readonly #users = inject(Users);

  @Get(
    '/',
    documented({
      summary: 'List users',
      description:
        'In the order of their creation. The page after this one begins at `meta.nextCursor`, and `Link` leads there. A page may have fewer users than `limit` though others follow.',
      operationId: 'listUsers',
      tags,
      responses: {
        200: { schema: UserPage, headers: { Link: 'The next page, with the relation `next`' } },
        ...COMMON,
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
    documented({
      summary: 'Count users',
      description: 'In all, by day of creation and by e-mail domain. May be 10 s old.',
      operationId: 'getUserFigures',
      tags,
      responses: {
        200: {
          schema: z.object({ data: UserFigures }),
          headers: { 'Cache-Control': 'How long these figures will do' },
        },
        ...COMMON,
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
    documented({
      summary: 'Read a user',
      operationId: 'getUser',
      tags,
      reads: { headers: IF_NONE_MATCH },
      responses: {
        200: { schema: ONE, headers: ETAG },
        304: { description: 'The client has this state already', headers: ETAG },
        ...COMMON,
      },
    }),
  )
  async read(@Param('id') id: string, ctx: Context) {
    const user = await this.#users.find(id);
    return isNotModified(ctx, etagOf(user.version)) ? undefined : { data: toJson(user) };
  }

  @Post(
    '/',
    documented({
      summary: 'Create a user',
      description: 'With an `Idempotency-Key` it may be sent again, and creates one user.',
      operationId: 'createUser',
      tags,
      responses: {
        201: { schema: ONE, headers: { Location: 'The path of the new user', ...ETAG } },
        ...TAKEN,
        422: { description: 'The `Idempotency-Key` was used with another body' },
        ...COMMON,
      },
    }),
    validate({ headers: CreateHeaders }),
  )
  async create(@Body(NewUser) newUser: z.output<typeof NewUser>, ctx: Context) {
    const user = await this.#users.create(newUser, ctx.get('idempotency-key'));
    ctx.status = 201;
    ctx.set('Location', `${V2}/${user.id}`);
    return tagged(ctx, user);
  }

  @Patch(
    '/:id',
    documented({
      summary: 'Change a user',
      description:
        'By a merge patch (RFC 7396): fields that it leaves out stay as they are. None can be removed.',
      operationId: 'changeUser',
      tags,
      reads: { headers: IF_MATCH },
      bodyTypes: PATCH_TYPES,
      responses: {
        200: { schema: ONE, headers: ETAG },
        ...TAKEN,
        ...STALE,
        415: {
          description: 'The body is no merge patch',
          headers: { 'Accept-Patch': 'The media types of a patch' },
        },
        ...COMMON,
      },
    }),
  )
  async change(
    @Param('id') id: string,
    @Body(UserPatch) patch: z.output<typeof UserPatch>,
    ctx: Context,
  ) {
    return tagged(ctx, await this.#users.change(id, patch, await this.#versionFor(ctx, id)));
  }

  @Delete(
    '/:id',
    documented({
      summary: 'Delete a user',
      operationId: 'deleteUser',
      tags,
      reads: { headers: IF_MATCH },
      responses: {
        200: { schema: z.object({ success: z.literal(true) }) },
        ...STALE,
        ...COMMON,
      },
    }),
  )
  async remove(@Param('id') id: string, ctx: Context) {
    await this.#users.remove(id, await this.#versionFor(ctx, id));
    return { success: true };
  }

  /** The version that a change is meant for; none where the client names no state. */
  async #versionFor(ctx: Context, id: string): Promise<number | undefined> {
    if (!isConditional(ctx)) return undefined;
    const { version } = await this.#users.find(id);
    requireMatch(ctx, etagOf(version));
    return version;
  }
}

function tagged(ctx: Context, user: UserState) {
  ctx.set('ETag', etagOf(user.version));
  return { data: toJson(user) };
}

/** A user in the shape of this version. */
function toJson({ id, name, email, createdAt, updatedAt, version }: UserState) {
  const times = { createdAt: jsonTime(createdAt), updatedAt: jsonTime(updatedAt) };
  return { id, name, email, ...times, version };
}

function pageQuery({ limit, email }: ListQuery, cursor: string): URLSearchParams {
  return new URLSearchParams({ limit: String(limit), cursor, ...(email && { email }) });
}
