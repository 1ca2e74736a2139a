/** What contains semicolons that end no statement (strings, names, function bodies, comments), and signs. */
const TOKEN =
  /(?<!\w)[eE]'(?:[^'\\]|\\.|'')*'|'[^']*'|"[^"]*"|(?<![\w$])(\$\w*\$).*?\1|--[^\n]*|\/\*(?:\/\*.*?\*\/|.)*?\*\/|[();]/gs;

/**
 * Splits SQL of PostgreSQL at the semicolons that end statements, as `psql` does. SQL with a function body that
 * is no text (`BEGIN ATOMIC`) stays in one piece.
 */
export function splitStatements(sql: string): readonly string[] {
  if (/\bBEGIN\s+ATOMIC\b/i.test(sql)) return [sql];
  const statements: string[] = [];
  let start = 0;
  let depth = 0; // of parentheses, as in CREATE RULE
  for (const { 0: token, index } of sql.matchAll(TOKEN)) {
    if (token === '(') depth++;
    else if (token === ')') depth--;
    else if (token === ';' && depth <= 0) {
      statements.push(sql.slice(start, index));
      start = index + 1;
    }
  }
  return [...statements, sql.slice(start)];
}
