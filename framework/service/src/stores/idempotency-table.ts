import { check, readOptions } from '@fw/core/options';

/** The table of the responses of `idempotency()`. */
export interface IdempotencyTable {
  /** Default `idempotency`. */
  readonly table?: string;
  /** The column of the response. Default `response`. */
  readonly column?: string;
}

const aName = check('up to 40 of a to z, 0 to 9 and "_"', (value) =>
  /^[a-z][a-z0-9_]{0,39}$/.test(String(value)),
);

/** @throws {TypeError} if a name cannot be part of a statement */
export function readTable(
  owner: string,
  options: IdempotencyTable = {},
): Required<IdempotencyTable> {
  const { table = 'idempotency', column = 'response' } = readOptions(owner, options, {
    table: aName,
    column: aName,
  });
  return { table, column };
}
