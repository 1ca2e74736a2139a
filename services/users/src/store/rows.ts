import type { Row } from '@fw/service/postgres';

import type { FiguresOptions, UserFigures, UserPage, UserStore } from '../store.ts';
import type { User } from '../user.ts';

/** The columns of a user. */
export const COLUMNS = 'position, id, name, email, created_at, updated_at, version';

/** Maximum number of users in a batch. */
export const MAX_BATCH_USERS = 250;

/** Maximum number of characters in the names and e-mail addresses of a batch of several users. */
export const MAX_BATCH_CHARACTERS = 32_768;

/**
 * Maximum size of the name and e-mail address of an ordinary user together, in bytes; every user within
 * the length limits of the API is ordinary. A larger user is a batch of its own, so that the size of a
 * batch does not depend on the number of large users.
 */
export const MAX_ORDINARY_BYTES = 2_000;

const IS_ORDINARY = `octet_length(name) + octet_length(email) <= ${MAX_ORDINARY_BYTES}`;

/** The columns of a batch. `name` and `email` of a large user are null: the database does not send them. */
export const BATCH_COLUMNS = `position, id, CASE WHEN ${IS_ORDINARY} THEN name END AS name,
   CASE WHEN ${IS_ORDINARY} THEN email END AS email, created_at, updated_at, version`;

/** Converts the columns of a user. */
export function toUser(row: Row): User {
  return {
    id: String(row.id),
    name: String(row.name),
    email: String(row.email),
    createdAt: toDate(row.created_at),
    updatedAt: toDate(row.updated_at),
    version: Number(row.version),
  };
}

/** Converts a user to the text that is stored with an idempotency key. */
export function toRow({ id, name, email, createdAt, updatedAt, version }: User): string {
  return JSON.stringify([id, name, email, createdAt.getTime(), updatedAt.getTime(), version]);
}

/** Converts the text that `toRow` returned. */
export function fromRow(text: string): User {
  const [id, name, email, created_at, updated_at, version] = JSON.parse(text);
  return toUser({ id, name, email, created_at, updated_at, version });
}

/** Converts milliseconds (SQLite) or a `Date` (PostgreSQL). */
function toDate(value: unknown): Date {
  return value instanceof Date ? value : new Date(Number(value));
}

/** Whether `ifVersion` is not the current version; `false` if it is `undefined`. */
export function isStale(row: Row, ifVersion: number | undefined): boolean {
  return ifVersion !== undefined && Number(row.version) !== ifVersion;
}

/**
 * Returns the first batch of `rows`, which have the `BATCH_COLUMNS`: at most `most` ordinary users, or one
 * large user, which `find` reads.
 */
export async function readBatch(
  rows: readonly Row[],
  find: UserStore['find'],
  most = MAX_BATCH_USERS,
): Promise<UserPage> {
  let end = 0;
  let characters = 0;
  for (const row of rows.slice(0, most)) {
    characters += isLarge(row) ? Infinity : String(row.name).length + String(row.email).length;
    if (end > 0 && characters > MAX_BATCH_CHARACTERS) break;
    end++;
  }
  const batch = rows.slice(0, end);
  const last = batch.at(-1);
  const next = last && rows.length > end ? { next: Number(last.position) } : {};
  if (!last || !isLarge(last)) return { users: batch.map(toUser), ...next };
  const user = await find(String(last.id));
  return { users: user ? [user] : [], ...next };
}

function isLarge({ name }: Row): boolean {
  return name === null;
}

const DAY_MS = 24 * 60 * 60 * 1_000;

/** The first and the last day to count, as numbers of days since 1970 (UTC). */
export function daysOf({ days, now }: Omit<FiguresOptions, 'domains'>) {
  const last = Math.floor(now.getTime() / DAY_MS);
  return { first: last - days + 1, last };
}

/** Converts rows with `kind`, `name` and `count`; includes days without new users. */
export function toFigures(
  rows: readonly Row[],
  { first, last }: ReturnType<typeof daysOf>,
): UserFigures {
  const ofKind = (kind: string) => rows.filter((row) => row.kind === kind);
  const countOf = new Map(ofKind('day').map(({ name, count }) => [Number(name), Number(count)]));
  return {
    total: Number(ofKind('total')[0]?.count),
    byDay: Array.from({ length: last - first + 1 }, (_, at) => ({
      date: new Date((first + at) * DAY_MS).toISOString().slice(0, 10),
      count: countOf.get(first + at) ?? 0,
    })),
    byDomain: ofKind('domain').map(({ name, count }) => ({
      domain: String(name),
      count: Number(count),
    })),
  };
}
