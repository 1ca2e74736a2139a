import { hash } from 'node:crypto';

/** White space, comments and empty statements in front of a statement. */
const BLANK = /^(?:[\s;]|--[^\n]*|\/\*.*?\*\/)*/s;

/** The most characters of a statement in a message. */
const MAX_EXCERPT = 160;

/** SQL from its first statement on; empty if there is none. */
export function fromStatement(sql: string): string {
  return sql.replace(BLANK, '');
}

/** Identifies the text of a migration. White space does not count, so that it can be formatted. */
export function checksumOf(migration: string): string {
  return hash('sha256', migration.trim().replace(/\s+/g, ' '));
}

/**
 * Compares migrations with those that were applied; `checksums` contains the recorded ones by version.
 *
 * @throws {Error} naming the first migration that differs
 */
export function requireUnchanged(
  migrations: readonly string[],
  checksums: ReadonlyMap<number, unknown>,
): void {
  for (const [index, migration] of migrations.entries()) {
    const applied = checksums.get(index + 1) ?? undefined;
    if (applied === undefined || applied === checksumOf(migration)) continue;
    throw new Error(
      `migration ${index + 1} is not the one that was applied: restore its text and place, and append changes as a new migration`,
    );
  }
}

/** The error of the first statement of `sql`, with the members of `cause`, such as its code. */
export function migrationFailed(version: number, sql: string, cause: Error): Error {
  const [statement = ''] = splitStatements(fromStatement(sql));
  const line = statement.trim().replace(/\s+/g, ' ');
  const excerpt = line.length > MAX_EXCERPT ? `${line.slice(0, MAX_EXCERPT)}…` : line;
  const error = new Error(`migration ${version} failed at "${excerpt}": ${cause.message}`, {
    cause,
  });
  return Object.assign(error, cause);
}

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
