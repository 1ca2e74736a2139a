import { ServiceUnavailableError } from 'fw';

/**
 * Runs `work` on a database.
 *
 * @throws {ServiceUnavailableError} if the database is unavailable: its disk is full or fails, or another
 *   process locks it for too long
 */
export function orUnavailable<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw toUnavailable(error);
  }
}

/** Result codes that do not depend on the statement: https://sqlite.org/rescode.html */
const UNAVAILABLE = new Map([
  [5, 'SQLITE_BUSY'],
  [6, 'SQLITE_LOCKED'],
  [7, 'SQLITE_NOMEM'],
  [8, 'SQLITE_READONLY'],
  [10, 'SQLITE_IOERR'],
  [13, 'SQLITE_FULL'],
  [14, 'SQLITE_CANTOPEN'],
  [15, 'SQLITE_PROTOCOL'],
]);

/** Converts `error` to a `ServiceUnavailableError` if the database is unavailable. */
export function toUnavailable(error: unknown): unknown {
  const code = resultCode(error);
  const word = code === undefined ? undefined : UNAVAILABLE.get(code);
  if (!word) return error;
  return new ServiceUnavailableError(`The database cannot be used: ${word}`, {
    headers: { 'Retry-After': '1' },
    cause: error,
  });
}

/** Whether another process is writing at the moment. */
export function isBusy(error: unknown): boolean {
  return resultCode(error) === 5;
}

/** SQLite's primary result code, without the extension in the higher bits. */
function resultCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error)) return undefined;
  return typeof error.errcode === 'number' ? error.errcode & 0xff : undefined;
}
