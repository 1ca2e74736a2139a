import type { DatabaseSync } from 'node:sqlite';

import { beginStatement } from '../tracing/active-traces.ts';

const SQLITE = { system: 'sqlite' } as const;

/** Makes each statement of `database` that a request runs a span of the request. */
export function traceStatements(database: DatabaseSync): void {
  const { prepare, exec } = database;
  database.exec = (text) => traced(text, () => exec.call(database, text));
  database.prepare = (text, ...options) => {
    const statement = prepare.call(database, text, ...options);
    for (const method of ['all', 'get', 'run'] as const) {
      const original = statement[method];
      Object.defineProperty(statement, method, {
        value: (...values: unknown[]) =>
          traced(text, () => Reflect.apply(original, statement, values)),
      });
    }
    return statement;
  };
}

function traced<T>(text: string, work: () => T): T {
  const end = beginStatement(SQLITE, text);
  if (!end) return work();
  try {
    const result = work();
    end();
    return result;
  } catch (error) {
    end(error);
    throw error;
  }
}
