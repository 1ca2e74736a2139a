import { integerQuery, numberedPageQuery, pageOf, pageQuery, plainText } from '@fw/service';
import * as z from 'zod';

import { MAX_EMAIL_LENGTH, MAX_NAME_LENGTH } from './user.ts';

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

/** A user as version 1 shows it. */
export const UserV1 = z
  .object({ id, name: anyName, email: anyEmail, createdAt, updatedAt })
  .meta({ id: 'UserV1' });

const nameV1 = plainText({ min: 1, max: MAX_NAME_LENGTH }).meta({ examples: [ADA.name] });
const emailV1 = plainText({ max: MAX_EMAIL_LENGTH }).meta({ examples: [ADA.email] });

/** The body of version 1's POST as the document shows it; `readNewUser` reads it. */
export const NewUserV1 = z
  .object({ name: nameV1, email: emailV1.meta({ minLength: 1 }) })
  .meta({ id: 'NewUserV1', examples: [ADA] });

/** The body of version 1's PUT as the document shows it; `readUserChanges` reads it. Without one, nothing changes. */
export const UserChangesV1 = z
  .object({ name: nameV1, email: emailV1 })
  .partial()
  .meta({ id: 'UserChangesV1' })
  .optional();

const total = z.int().min(0).meta({ description: 'How many users there are in all' });

/** The list of version 1: all users, or a page of them. */
export const UserListV1 = z.union([
  z.object({ data: z.array(UserV1), total }),
  z.object({
    data: z.array(UserV1),
    meta: z.object({ total, page: z.int().min(1), limit: z.int().min(1).max(100) }),
  }),
]);

/** The query of version 1's list, as a document shows it; `readPage` reads it. */
export const PageQueryV1 = numberedPageQuery({
  limitDescription: 'Users on a page; 10 if only `page` is present',
});

const name = plainText({ min: 1, max: MAX_NAME_LENGTH })
  .regex(/\S/, 'Expected some text')
  .meta({ examples: [ADA.name] });

/** Longest part before the `@`, in characters (RFC 5321 §4.5.3.1.1). */
const MAX_LOCAL_LENGTH = 64;

/**
 * zod's own pattern, with labels of the domain that the format `email` allows: up to 63 characters,
 * with no hyphen at an end (RFC 1035 §2.3.1).
 */
const EMAIL =
  /^(?:[A-Za-z0-9_'+-]+\.)*[A-Za-z0-9_'+-]*[A-Za-z0-9_+-]@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z]{2,63}$/;

const email = z
  .email({ error: 'Expected an e-mail address', abort: true, pattern: EMAIL })
  .max(MAX_EMAIL_LENGTH, { abort: true })
  .refine((text) => text.indexOf('@') <= MAX_LOCAL_LENGTH, 'Expected an e-mail address')
  .meta({ description: 'Unique, whatever its case', examples: [ADA.email] });

/** A user as version 2 shows it. */
export const User = UserV1.extend({
  version: z
    .int()
    .min(1)
    .meta({
      description: 'One more with each change; in quotes it is the entity tag',
      examples: [1],
    }),
}).meta({ id: 'User' });

/** What it takes to create a user; unknown fields are refused. */
export const NewUser = z.strictObject({ name, email }).meta({ id: 'NewUser', examples: [ADA] });

/** A merge patch (RFC 7396) of a user: what is left out stays, and nothing can be removed. */
export const UserPatch = z
  .strictObject({ name: name.exactOptional(), email: email.exactOptional() })
  .meta({ id: 'UserPatch', examples: [{ name: 'Ada, Countess of Lovelace' }] });

/** The query of the list; unknown names are refused, so that a misspelt filter is not all users. */
export const ListQuery = z.strictObject({
  ...pageQuery,
  email: plainText({ min: 1, max: 1_000 })
    .optional()
    .meta({ description: 'Only users with this e-mail address, whatever its case' }),
});
export type ListQuery = z.output<typeof ListQuery>;

export const UserPage = pageOf(User);

/** Which figures are asked for. */
export const FiguresQuery = z.strictObject({
  days: integerQuery({
    from: 1,
    to: 366,
    fallback: 30,
    description: 'How many days, in UTC, today included',
  }),
  domains: integerQuery({
    from: 0,
    to: 100,
    fallback: 10,
    description: 'How many e-mail domains at most',
  }),
});
export type FiguresQuery = z.output<typeof FiguresQuery>;

const count = z.int().min(0);

export const UserFigures = z
  .object({
    total,
    byDay: z
      .array(z.object({ date: z.iso.date(), count }))
      .meta({ description: 'Users created on each day, the oldest day first' }),
    byDomain: z
      .array(z.object({ domain: z.string(), count }))
      .meta({ description: 'Users by e-mail domain, the largest first' }),
  })
  .meta({ id: 'UserFigures' });

/** The headers that make creating a user safe to repeat. */
export const CreateHeaders = z.object({
  'idempotency-key': z
    .string()
    .regex(/^[\x21-\x7e]{1,255}$/, 'Expected 1 to 255 visible ASCII characters')
    .optional()
    .meta({
      description:
        'Any name for this request: sent again with the same body within a day, it answers as the first time and creates nothing',
      examples: ['8e03978e-40d5-43dd-bc93-6894a57f9324'],
    }),
});

/** What any operation answers while the store is away. */
export const STORE_AWAY = {
  503: {
    description: 'The store cannot be used right now',
    headers: { 'Retry-After': 'Seconds to wait before the next request' },
  },
};
