// Entries of this package whose users have no `pg` export these types, so this file imports none of it.

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
