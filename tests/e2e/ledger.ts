import type { World } from './scenario.ts';
import { sql } from './sql.ts';

/** A user, as a client created it or as a row of the database. */
export interface User {
  readonly id: string;
  readonly email: string;
  readonly name: string;
}

/** Reads the acknowledged users from a log of k6: lines with `created <id> <email> <name>`. */
export function readLedger(log: string): User[] {
  const lines = log.matchAll(/ msg="created (\S+) (\S+) ([^"]+)"/g);
  return [...lines].map(([, id = '', email = '', name = '']) => ({ id, email, name }));
}

/** A comparison of the rows of the database with the acknowledged users. */
export interface Comparison {
  readonly acknowledged: number;
  /** Acknowledged users with a row of the same content. */
  readonly matching: number;
  /** Acknowledged users without a row. */
  readonly missing: number;
  /** Acknowledged users whose row has another name or e-mail address. */
  readonly different: number;
  /** Rows whose e-mail address another row has too: a request that was executed twice. */
  readonly duplicates: number;
  /** Rows of requests without a response, such as those in flight at the end. */
  readonly unacknowledged: number;
}

/** Compares acknowledged users with the rows of the database, each by its id. */
export function compareUsers(acknowledged: readonly User[], rows: readonly User[]): Comparison {
  const rowOf = new Map(rows.map((row) => [row.id, row]));
  const ids = new Set(acknowledged.map(({ id }) => id));
  const found = acknowledged.filter(({ id }) => rowOf.has(id));
  const matching = found.filter(({ id, email, name }) => {
    const row = rowOf.get(id);
    return row?.email === email && row.name === name;
  });
  return {
    acknowledged: acknowledged.length,
    matching: matching.length,
    missing: acknowledged.length - found.length,
    different: found.length - matching.length,
    duplicates: rows.length - new Set(rows.map(({ email }) => email)).size,
    unacknowledged: rows.filter(({ id }) => !ids.has(id)).length,
  };
}

/** Rows of one query: kubectl returns at most 64 MiB. */
const ROWS = 100_000;

/** Reads every row of the table of users; `column` contains the name. */
export async function readUsers(world: World, column: string): Promise<User[]> {
  const users: User[] = [];
  for (let last = '0'; ; ) {
    const rows = await sql(
      world,
      `SELECT position, id, email, ${column} FROM users WHERE position > ${last} ORDER BY position LIMIT ${ROWS}`,
    );
    for (const row of rows) {
      const [position = '', id = '', email = '', name = ''] = row.split('|');
      users.push({ id, email, name });
      last = position;
    }
    if (rows.length < ROWS) return users;
  }
}
