import { ServiceUnavailableError } from 'fw';

/** SQLSTATEs that say that the server goes, is gone or is not there yet. */
const GOING = /^(08|57P0)/;

/** SQLSTATEs of a server that answers, and cannot do it now: no room, no time, not the writable one. */
const UNABLE = /^(53|58|57014$|55P03$|25006$|40001$|40P01$)/;

/** Two transactions were in each other's way; the one that was undone may try again. */
const CONFLICT = /^(40001|40P01)$/;

/** The server cannot be reached, has hung up or does not answer. */
export class ConnectionLostError extends Error {}

/** `error` of a driver's call: what neither the server nor a wrong value says, the connection does. */
export function toLost(error: unknown): unknown {
  if (sqlState(error) !== undefined) return error;
  if (error instanceof TypeError || error instanceof RangeError) return error;
  if (error instanceof ConnectionLostError) return error;
  return new ConnectionLostError(reasonOf(error), { cause: error });
}

/** Whether the server works, and only has no room for another connection or statement. */
export function isOutOfRoom(error: unknown): boolean {
  return sqlState(error)?.startsWith('53') ?? false;
}

/** Whether trying again at once makes sense: nothing was kept, and nothing is wrong. */
export function isConflict(error: unknown): boolean {
  return CONFLICT.test(sqlState(error) ?? '');
}

/** Whether the connection that `error` came from is of no use any more. */
export function isConnectionLost(error: unknown): boolean {
  return error instanceof ConnectionLostError || GOING.test(sqlState(error) ?? '');
}

/** `error`, or what it means to a client if the server cannot be used right now. */
export function toUnavailable(error: unknown): unknown {
  if (!isConnectionLost(error) && !UNABLE.test(sqlState(error) ?? '')) return error;
  return unavailable(error);
}

export function unavailable(cause: unknown): ServiceUnavailableError {
  return new ServiceUnavailableError(`PostgreSQL cannot be used: ${reasonOf(cause)}`, {
    headers: { 'Retry-After': '1' },
    cause,
  });
}

/** Whether the server refused a row because of the unique index or key `constraint`. */
export function isTaken(error: unknown, constraint: string): boolean {
  return (
    sqlState(error) === '23505' &&
    error instanceof Error &&
    'constraint' in error &&
    error.constraint === constraint
  );
}

/** Also of several addresses that were all tried in vain, whose error says nothing by itself. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join(', ');
  return error instanceof Error ? error.message : String(error);
}

/** The five letters and digits by which the server tells its errors apart. */
function sqlState(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('severity' in error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
