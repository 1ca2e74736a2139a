import { hash } from 'node:crypto';

import * as z from 'zod';

import type { NewUser, Outcome, User } from './user.ts';

/** The headers of a request that a client may repeat. */
export const IdempotencyHeaders = z.object({
  'idempotency-key': z
    .string()
    .regex(/^[\x21-\x7e]{1,255}$/, 'Expected 1 to 255 visible ASCII characters')
    .optional()
    .meta({
      description:
        'Any unique value: repeating the request with the same body within a day returns the first response and creates nothing',
      examples: ['8e03978e-40d5-43dd-bc93-6894a57f9324'],
    }),
});

/** Identifies a request, so that repeating it has no further effect. */
export interface Idempotency {
  readonly key: string;
  /** Equal for two requests only if they have the same content. */
  readonly fingerprint: string;
}

/** Identifies the creation of a user, independent of the spelling of its JSON; `undefined` without a key. */
export function idempotencyOf(
  key: string | undefined,
  { name, email }: NewUser,
): Idempotency | undefined {
  if (key === undefined) return undefined;
  return { key, fingerprint: hash('sha256', JSON.stringify([name, email]), 'base64url') };
}

/** How long a key is valid. */
const REMEMBERED_MS = 24 * 60 * 60 * 1_000;

/** Returns the creation time of the latest keys that have expired at `now`. */
export function expiryAt(now: Date): Date {
  return new Date(now.getTime() - REMEMBERED_MS);
}

/** Serializes the user of the first response, which a repeated request gets again. */
export function toReplay({ id, name, email, createdAt, updatedAt, version }: User): string {
  return JSON.stringify([id, name, email, createdAt.getTime(), updatedAt.getTime(), version]);
}

/** The stored columns of a key: the fingerprint of its request, and the text of `toReplay`. */
interface KeyRow {
  readonly fingerprint?: unknown;
  readonly user?: unknown;
}

/** Returns the outcome of a request whose key was used before: the user as created then, if it is the same request. */
export function replay(row: KeyRow, { fingerprint }: Idempotency): Outcome {
  if (row.fingerprint !== fingerprint) return 'key-reused';
  const [id, name, email, createdMs, updatedMs, version] = JSON.parse(String(row.user));
  return {
    id,
    name,
    email,
    createdAt: new Date(createdMs),
    updatedAt: new Date(updatedMs),
    version,
  };
}
