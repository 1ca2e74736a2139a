import type { Row } from '@fw/service/postgres';

import type { FiguresOptions, UserFigures, UserPage } from '../store.ts';
import type { User } from '../user.ts';

/** The columns of a user. */
export const COLUMNS = 'position, id, name, email, created_at, updated_at, version';

/** Maximum number of users in a batch. */
export const MAX_BATCH_USERS = 250;

/**
 * Maximum number of UTF-16 units in the names and e-mail addresses of a batch. One user has at most 908: a name of
 * 200 and an address of 254 characters, of at most two units each.
 */
export const MAX_BATCH_LENGTH = 32_768;

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
export function serializeUser({ id, name, email, createdAt, updatedAt, version }: User): string {
  return JSON.stringify([id, name, email, createdAt.getTime(), updatedAt.getTime(), version]);
}

/** Converts the text that `serializeUser` returned. */
export function parseUser(text: string): User {
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

/** Returns the first batch of `rows`: at most `most` users. */
export function readBatch(rows: readonly Row[], most = MAX_BATCH_USERS): UserPage {
  const users: User[] = [];
  let length = 0;
  for (const row of rows.slice(0, most)) {
    const user = toUser(row);
    length += user.name.length + user.email.length;
    if (users.length > 0 && length > MAX_BATCH_LENGTH) break;
    users.push(user);
  }
  if (users.length === rows.length) return { users };
  return { users, next: Number(rows[users.length - 1]?.position) };
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
