/** Sends one statement on one connection; resolves with its rows. */
export type Send = (
  text: string,
  values?: readonly unknown[],
) => Promise<readonly Readonly<Record<string, unknown>>[]>;

export interface MigrationOptions {
  /** Whose tables these are. */
  readonly name: string;
  readonly migrations: readonly string[];
}

/** Whether the tables are of the newest version that this program knows, or a newer one. */
export async function isMigrated(
  send: Send,
  { name, migrations }: MigrationOptions,
): Promise<boolean> {
  const table = tableOf(name);
  const [found] = await send('SELECT to_regclass($1) IS NOT NULL AS known', [table]);
  if (!found?.known) return migrations.length === 0;
  return (await versionOf(send, table)) >= migrations.length;
}

/**
 * Brings the tables to the newest version in one transaction. Of several programs that start at once
 * one does it and the others wait for that.
 */
export async function migrate(send: Send, { name, migrations }: MigrationOptions): Promise<void> {
  const table = tableOf(name);
  await send('BEGIN');
  try {
    await send('SET LOCAL statement_timeout = 0');
    await send('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [table]);
    await send(
      `CREATE TABLE IF NOT EXISTS ${table} (
         version    integer PRIMARY KEY,
         applied_at timestamptz NOT NULL DEFAULT now()
       )`,
    );
    const version = await versionOf(send, table);
    for (const [at, migration] of migrations.entries()) {
      if (at < version) continue;
      await send(migration);
      await send(`INSERT INTO ${table} (version) VALUES ($1)`, [at + 1]);
    }
    await send('COMMIT');
  } catch (error) {
    await send('ROLLBACK');
    throw error;
  }
}

async function versionOf(send: Send, table: string): Promise<number> {
  const [row] = await send(`SELECT coalesce(max(version), 0) AS version FROM ${table}`);
  return Number(row?.version);
}

/** @throws {RangeError} if `name` cannot be part of a table's name */
function tableOf(name: string): string {
  if (/^[a-z][a-z0-9_]{0,40}$/.test(name)) return `${name}_migrations`;
  throw new RangeError(`Cannot name a table after "${name}": expected lower-case letters`);
}
