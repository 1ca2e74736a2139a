import { MAX_BATCH_CHARACTERS, MAX_BATCH_USERS, MAX_ORDINARY_BYTES } from '../store.ts';
import type { Row } from './row.ts';

const IS_ORDINARY = `octet_length(name) + octet_length(email) <= ${MAX_ORDINARY_BYTES}`;

/** The columns of a batch. `name` and `email` of a large user are null: the database does not send them. */
export const BATCH_COLUMNS = `position, id, CASE WHEN ${IS_ORDINARY} THEN name END AS name,
   CASE WHEN ${IS_ORDINARY} THEN email END AS email, created_at, updated_at, version`;

/** The rows of one batch. */
export interface Batch {
  /** Rows of ordinary users, or the row of one large user. */
  readonly rows: readonly Row[];
  /** Position of the last row, if more rows follow. */
  readonly next?: number;
}

/** Returns the first batch of `rows`: at most `most` ordinary users, or one large user. */
export function cutBatch(rows: readonly Row[], most = MAX_BATCH_USERS): Batch {
  const batch = rows.slice(0, Math.min(most, lengthOfBatch(rows)));
  const last = batch.at(-1);
  const isCut = rows.length > batch.length;
  return { rows: batch, ...(isCut && last && { next: Number(last.position) }) };
}

/** The number of `rows` that fit into one batch; at least 1. */
function lengthOfBatch(rows: readonly Row[]): number {
  let characters = 0;
  const end = rows.findIndex((row, at) => {
    characters += String(row.name).length + String(row.email).length;
    const isFull = isLarge(row) || characters > MAX_BATCH_CHARACTERS;
    return at > 0 && (isFull || isLarge(rows[0] as Row));
  });
  return end < 0 ? rows.length : end;
}

/** Whether the row is a large user's, without `name` and `email`: that user is read separately. */
export function isLarge({ name }: Row): boolean {
  return name === null;
}
