import { type Span, SpanStatusCode } from '@opentelemetry/api';

import type { TracedStatement } from './tracing.ts';

/**
 * The attributes of the span of a statement, without its values:
 * https://opentelemetry.io/docs/specs/semconv/db/database-spans/
 */
export function statementAttributes({ database, text, batchSize }: TracedStatement) {
  const { system, namespace, host, port } = database;
  const { operation, table } = readStatementName(text);
  return {
    'db.system.name': system,
    'db.operation.name': operation,
    'db.query.summary': table === undefined ? operation : `${operation} ${table}`,
    ...(table !== undefined && { 'db.collection.name': table }),
    ...(namespace && { 'db.namespace': namespace }),
    ...(host && { 'server.address': host }),
    ...(port && { 'server.port': Number(port) }),
    // The conventions reserve 1 for databases that have batches.
    ...(batchSize > 1 && { 'db.operation.batch.size': batchSize }),
  };
}

/** Records the code of a failed statement: SQLSTATE, or the result code of SQLite. Messages contain values. */
export function setStatementError(span: Span, error: unknown): void {
  const { code, errcode } = error as { readonly code?: unknown; readonly errcode?: unknown };
  const status = errcode ?? code;
  if (status !== undefined) span.setAttribute('db.response.status_code', String(status));
  span.setAttribute('error.type', String(status ?? (error as Error).name));
  span.setStatus({ code: SpanStatusCode.ERROR });
}

const CHANGE =
  /\b(INSERT)\s+(?:OR\s+\w+\s+)?INTO\s+([\w."]+)|\b(DELETE)\s+FROM\s+([\w."]+)|(?<!\b(?:FOR|KEY)\s+)\b(UPDATE)\s+(?!SET\b)([\w."]+)/i;
const READ = /\bFROM\s+(?!\w+\s*\()([\w."]+)/i;

/**
 * Reads the operation of a statement, such as `SELECT`, and the table that it mainly uses from its text,
 * without its values: the first change, otherwise what it reads. `WITH … INSERT INTO users …` is `INSERT`
 * of `users`.
 */
export function readStatementName(text: string): {
  readonly operation: string;
  readonly table?: string | undefined;
} {
  const [, ...change] = CHANGE.exec(text) ?? [];
  const [operation, table] = change.filter((part) => part !== undefined);
  if (operation !== undefined) return { operation: operation.toUpperCase(), table };
  const [first = ''] = /[a-z]+/i.exec(text) ?? [];
  const keyword = first.toUpperCase();
  return { operation: keyword === 'WITH' ? 'SELECT' : keyword, table: READ.exec(text)?.[1] };
}
