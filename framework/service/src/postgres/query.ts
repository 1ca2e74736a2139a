import type { Send } from './connections.ts';

/** A prepared statement: the server parses it once per connection. */
export interface Statement {
  readonly name: string;
  /** List the columns: `*` fails in running processes once a migration has added a column. */
  readonly text: string;
}

/** A row of a result, by column name. */
export type Row = Readonly<Record<string, unknown>>;

/** Runs a statement; resolves with its rows. */
export type Query = (statement: Statement, values?: readonly unknown[]) => Promise<readonly Row[]>;

/** Runs the statements of a transaction, or of one call, on its connection. */
export function queryOn(send: Send): Query {
  return async ({ name, text }, values = []) => {
    const { rows } = await send({ name, text, values: [...values] });
    return rows;
  };
}
