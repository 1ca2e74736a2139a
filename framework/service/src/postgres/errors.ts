import { ServiceUnavailableError } from 'fw';

/** SQLSTATEs of a server that starts, stops or has closed the connection. */
const STOPPING = /^(08|57P0)/;

/** SQLSTATEs of a server that runs but cannot execute the statement now: no space, no time, a read-only replica. */
const UNABLE = /^(53|58|57014$|55P03$|25006$|40001$|40P01$)/;

/** SQLSTATEs of a password or role that the server rejects. */
const REJECTED = /^28/;

/** The message of PgBouncer for these, whose errors share one SQLSTATE. */
const REJECTED_BY_POOLER = /\bauthentication failed\b/;

/** SQLSTATEs of a transaction that conflicted with another one and was rolled back. */
const CONFLICT = /^(40001|40P01)$/;

/** The messages of the driver's time-outs, which have no code, and the messages of our errors. */
const NO_RESPONSE = 'Query read timeout';
const QUEUE_TIMEOUT = 'timeout exceeded when trying to connect';
const TIMEOUTS = new Map([
  [NO_RESPONSE, 'no response within the time limit'],
  [QUEUE_TIMEOUT, 'no free connection within the time limit'],
  ['timeout expired', 'no connection within the time limit'],
]);

/** The messages of a full pool: of the driver's, and of PgBouncer's, whose errors share one SQLSTATE. */
const OUT_OF_CONNECTIONS = new RegExp(`^(${QUEUE_TIMEOUT}|no more connections allowed.*)$`);

/** The server cannot be reached, has closed the connection or does not respond. */
export class ConnectionLostError extends Error {}

/** Converts an error of the driver to a `ConnectionLostError`, unless the server sent it or a value is invalid. */
export function toLost(error: unknown): unknown {
  if (isFromServer(error)) return error;
  if (error instanceof TypeError || error instanceof RangeError) return error;
  if (error instanceof ConnectionLostError) return error;
  const reason = reasonOf(error);
  return new ConnectionLostError(TIMEOUTS.get(reason) ?? reason, { cause: error });
}

/** Whether the server sent `error`, so that it is not hanging. */
export function isFromServer(error: unknown): boolean {
  return sqlState(error) !== undefined;
}

/** Whether a statement got no response in time. */
export function isNoResponse(error: unknown): boolean {
  return error instanceof Error && error.message === NO_RESPONSE;
}

/** Whether a call got no connection because the pool or the server had no free one. */
export function isOutOfConnections(error: unknown): boolean {
  if (error instanceof Error && OUT_OF_CONNECTIONS.test(error.message)) return true;
  return sqlState(error)?.startsWith('53') ?? false;
}

/** Whether the server rejected the role or password of a new connection. */
export function isRejected(error: unknown): boolean {
  const state = sqlState(error);
  if (state === undefined) return false;
  return REJECTED.test(state) || REJECTED_BY_POOLER.test(reasonOf(error));
}

/** Whether a statement uses a table or column that does not exist. */
export function isTableMissing(error: unknown): boolean {
  return /^42(P01|703)$/.test(sqlState(error) ?? '');
}

/** Whether the transaction was rolled back because of another one, so that it can be repeated. */
export function isConflict(error: unknown): boolean {
  return CONFLICT.test(sqlState(error) ?? '');
}

/** Whether the connection that `error` came from cannot be used again. */
export function isConnectionLost(error: unknown): boolean {
  return error instanceof ConnectionLostError || STOPPING.test(sqlState(error) ?? '');
}

/** Converts `error` to a `ServiceUnavailableError` if the server cannot execute the statement now. */
export function toUnavailable(error: unknown): unknown {
  const isTemporary =
    isConnectionLost(error) || isRejected(error) || UNABLE.test(sqlState(error) ?? '');
  return isTemporary ? unavailable(error) : error;
}

/** Creates the error of an unavailable server. */
export function unavailable(cause: unknown): ServiceUnavailableError {
  return new ServiceUnavailableError(`PostgreSQL cannot be used: ${reasonOf(cause)}`, {
    headers: { 'Retry-After': '1' },
    cause,
  });
}

/** Whether the server rejected a row because of the unique index or key `constraint`. */
export function isTaken(error: unknown, constraint: string): boolean {
  return (
    sqlState(error) === '23505' &&
    error instanceof Error &&
    'constraint' in error &&
    error.constraint === constraint
  );
}

/** The message of `error`; of all its errors, if several addresses were tried. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join(', ');
  return error instanceof Error ? error.message : String(error);
}

/** The SQLSTATE of an error that the server sent. */
function sqlState(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('severity' in error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
