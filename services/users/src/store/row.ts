import type { User } from '../user.ts';

/** A row of the users table, as SQLite or PostgreSQL returns it. */
export type Row = Readonly<Record<string, unknown>>;

/** Whether `ifVersion` is not the current version; `false` if it is `undefined`. */
export function isStale(row: Row, ifVersion: number | undefined): boolean {
  return ifVersion !== undefined && Number(row.version) !== ifVersion;
}

/** Converts a row to a user. */
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

/** Converts milliseconds (SQLite), a `Date` (PostgreSQL) or the text of a time to a `Date`. */
function toDate(value: unknown): Date {
  if (value instanceof Date) return value;
  return new Date(typeof value === 'number' ? value : String(value));
}
