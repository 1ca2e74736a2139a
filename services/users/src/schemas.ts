import { IF_MATCH_PATTERN } from '@fw/middleware/preconditions';
import {
  hasAtMost,
  integerQuery,
  numberedPageQuery,
  pageOf,
  pageQuery,
  plainText,
} from '@fw/service';
import * as z from 'zod';

import { MAX_EMAIL_LENGTH, MAX_NAME_LENGTH, type User, type UserChanges } from './user.ts';

/** The page sizes of version 2. */
const PAGE_SIZES = { defaultLimit: 20, maxLimit: 100 };

/** The page sizes of version 1, which do not change. */
const PAGE_SIZES_V1 = { defaultLimit: 10, maxLimit: 100 };

const ADA = { name: 'Ada Lovelace', email: 'ada@example.com' };
const CREATED_AT = '2026-11-21T10:00:00.000Z';

const id = z
  .string()
  .meta({ description: 'A random UUID', examples: ['0c8f6d5a-9d0c-4c5b-8d6e-3b3f0a6f3b1e'] });
const anyName = z.string().meta({ examples: [ADA.name] });
const anyEmail = z.string().meta({ examples: [ADA.email] });
const createdAt = z.iso.datetime().meta({ examples: [CREATED_AT] });
const updatedAt = z.iso
  .datetime()
  .meta({ description: 'The time of the latest change', examples: [CREATED_AT] });

/** A user in version 1. */
export const UserV1 = z
  .object({ id, name: anyName, email: anyEmail, createdAt, updatedAt })
  .meta({ id: 'UserV1' });

/** For the document only: `json()` rejects NUL, and `withLengths` checks the lengths. */
const textV1 = { pattern: '^[^\\x00]*$' };
const nameV1 = { ...textV1, minLength: 1, maxLength: MAX_NAME_LENGTH, examples: [ADA.name] };
const emailV1 = { ...textV1, maxLength: MAX_EMAIL_LENGTH, examples: [ADA.email] };

const REQUIRED = 'name and email are required';

function requiredV1(field: string) {
  const error = ({ input }: { readonly input?: unknown }) =>
    input === undefined ? REQUIRED : `${field} must be a string`;
  return z.string({ error }).refine((text) => text !== '', { error: REQUIRED, abort: true });
}

/** Checks the lengths after all other rules, so that their messages come first. */
function withLengths<Schema extends z.ZodType<UserChanges>>(schema: Schema): Schema {
  return schema
    .refine(
      ({ name }) => name === undefined || (name !== '' && hasAtMost(name, MAX_NAME_LENGTH)),
      `name must be 1 to ${MAX_NAME_LENGTH} characters long`,
    )
    .refine(
      ({ email }) => email === undefined || hasAtMost(email, MAX_EMAIL_LENGTH),
      `email must be at most ${MAX_EMAIL_LENGTH} characters long`,
    );
}

/** The body of POST in version 1; unknown fields are ignored. */
export const NewUserV1 = withLengths(
  z.object(
    {
      name: requiredV1('name').meta(nameV1),
      email: requiredV1('email').meta({ ...emailV1, minLength: 1 }),
    },
    REQUIRED,
  ),
).meta({ id: 'NewUserV1', examples: [ADA] });

/** The body of PUT in version 1; unknown fields are ignored. Without a body nothing changes. */
export const UserChangesV1 = withLengths(
  z.object(
    {
      name: z.string('name must be a string').meta(nameV1).exactOptional(),
      email: z.string('email must be a string').meta(emailV1).exactOptional(),
    },
    'the body must be a JSON object',
  ),
)
  .meta({ id: 'UserChangesV1' })
  .optional();

const total = z.int().min(0).meta({ description: 'The total number of users' });

/** The list of version 1: all users, or one page. */
export const UserListV1 = z.union([
  z.object({
    data: z.array(UserV1),
    total: z.int().min(0).meta({ description: 'The number of users in the response' }),
  }),
  z.object({
    data: z.array(UserV1),
    meta: z.object({
      total,
      page: z.int().min(1),
      limit: z.int().min(1).max(PAGE_SIZES_V1.maxLimit),
    }),
  }),
]);

/** The query of the list in version 1. */
export const PageQueryV1 = numberedPageQuery({
  ...PAGE_SIZES_V1,
  limitDescription: `Users per page; ${PAGE_SIZES_V1.defaultLimit} if only \`page\` is present`,
});

const name = plainText({ min: 1, max: MAX_NAME_LENGTH })
  .regex(/\S/, 'Expected some text')
  .meta({ examples: [ADA.name] });

/** Maximum length of the part before `@`, in characters (RFC 5321 §4.5.3.1.1). */
const MAX_LOCAL_LENGTH = 64;

/**
 * An address as HTML's e-mail input accepts it, without empty parts between dots: the `Dot-string` and
 * `Domain` of RFC 5321 §4.1.2, with labels of at most 63 characters (RFC 1035 §2.3.4).
 */
const EMAIL =
  /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*@[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$/;

const email = z
  .email({ error: 'Expected an e-mail address', abort: true, pattern: EMAIL })
  .max(MAX_EMAIL_LENGTH, { abort: true })
  .refine((text) => text.indexOf('@') <= MAX_LOCAL_LENGTH, 'Expected an e-mail address')
  .meta({ description: 'Unique regardless of case', examples: [ADA.email] });

/** A user in version 2. */
export const UserV2 = UserV1.extend({
  version: z
    .int()
    .min(1)
    .meta({
      description: 'Increases with each change; in quotes it is the entity tag',
      examples: [1],
    }),
}).meta({ id: 'User' });

/** A user as responses contain it. Version 1 does not declare `version`, so its responses omit it. */
export function toJson({ id, name, email, createdAt, updatedAt, version }: User) {
  const times = { createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() };
  return { id, name, email, ...times, version };
}

/** The body of POST in version 2; unknown fields are rejected. */
export const NewUserV2 = z.strictObject({ name, email }).meta({ id: 'NewUser', examples: [ADA] });

/** A merge patch of a user (RFC 7396); fields cannot be removed. */
export const UserPatch = z
  .strictObject({ name: name.exactOptional(), email: email.exactOptional() })
  .meta({ id: 'UserPatch', examples: [{ name: 'Ada, Countess of Lovelace' }] });

/** The headers of a change or deletion; `hasIfMatch` reads them. */
export const IfMatchHeaders = z.object({
  'if-match': z
    .string()
    .regex(IF_MATCH_PATTERN)
    .optional()
    .meta({
      description:
        'Entity tags, or `*`: the change is made only if the current version is one of them. A malformed value gets 400.',
      examples: ['"1"'],
    }),
});

/** The headers of a request for one user; `sendNotModified` reads them. */
export const IfNoneMatchHeaders = z.object({
  'if-none-match': z
    .string()
    .optional()
    .meta({
      description:
        'Entity tags: 304 if the current version is one of them. A malformed value is ignored.',
      examples: ['"1"'],
    }),
});

/** The query of the list; unknown names are rejected, so that a misspelled filter does not list all users. */
export const ListQuery = z.strictObject({
  ...pageQuery(PAGE_SIZES),
  email: plainText({ min: 1, max: 1_000 })
    .optional()
    .meta({ description: 'Only users with this e-mail address, regardless of case' }),
});

export const UserPageV2 = pageOf(UserV2, PAGE_SIZES);

/** The query of the figures. */
export const FiguresQuery = z.strictObject({
  days: integerQuery({
    from: 1,
    to: 366,
    fallback: 30,
    description: 'Number of days (UTC), including today',
  }),
  domains: integerQuery({
    from: 0,
    to: 100,
    fallback: 10,
    description: 'Maximum number of e-mail domains',
  }),
});

const count = z.int().min(0);

export const UserFiguresV2 = z
  .object({
    total,
    byDay: z
      .array(z.object({ date: z.iso.date(), count }))
      .meta({ description: 'Users created on each day, oldest day first' }),
    byDomain: z
      .array(z.object({ domain: z.string(), count }))
      .meta({ description: 'Users by e-mail domain, the largest first' }),
  })
  .meta({ id: 'UserFigures' });
