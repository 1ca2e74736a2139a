import type { User } from '../user.ts';

/** A row of users, as either database gives it. */
export type Row = Readonly<Record<string, unknown>>;

/** Whether the user has changed since version `ifVersion`; never where none is asked for. */
export function isStale(row: Row, ifVersion: number | undefined): boolean {
  return ifVersion !== undefined && Number(row.version) !== ifVersion;
}

/** The user that stands in a row. */
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

/** SQLite keeps milliseconds; PostgreSQL has times, which are text within JSON. */
function toDate(value: unknown): Date {
  if (value instanceof Date) return value;
  return new Date(typeof value === 'number' ? value : String(value));
}
