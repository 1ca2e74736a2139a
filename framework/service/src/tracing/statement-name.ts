/** The operation of a statement and the table that it mainly uses. */
export interface StatementName {
  /** Such as `SELECT`. */
  readonly operation: string;
  readonly table?: string | undefined;
}

const CHANGE =
  /\b(INSERT)\s+(?:OR\s+\w+\s+)?INTO\s+([\w."]+)|\b(DELETE)\s+FROM\s+([\w."]+)|(?<!\b(?:FOR|KEY)\s+)\b(UPDATE)\s+(?!SET\b)([\w."]+)/i;
const READ = /\bFROM\s+(?!\w+\s*\()([\w."]+)/i;

/**
 * Reads what a statement does from its text, without its values: the first change, otherwise what it
 * reads. `WITH … INSERT INTO users …` is `INSERT` of `users`.
 */
export function readStatementName(text: string): StatementName {
  const [, ...change] = CHANGE.exec(text) ?? [];
  const [operation, table] = change.filter((part) => part !== undefined);
  if (operation !== undefined) return { operation: operation.toUpperCase(), table };
  const [first = ''] = /[a-z]+/i.exec(text) ?? [];
  const keyword = first.toUpperCase();
  return { operation: keyword === 'WITH' ? 'SELECT' : keyword, table: READ.exec(text)?.[1] };
}
