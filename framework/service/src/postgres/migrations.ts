import type { Send } from './connections.ts';
import type { PostgresOptions } from './postgres.ts';

/** The migrations, and the prefix of the table that records them. */
type Tables = Pick<PostgresOptions, 'name' | 'migrations'>;

/** Whether the tables have the newest version that this program knows, or a newer one. */
export async function isMigrated(send: Send, { name, migrations }: Tables): Promise<boolean> {
  const table = tableOf(name);
  const { rows } = await send({ text: `SELECT to_regclass('${table}') IS NOT NULL AS is_known` });
  if (!rows[0]?.is_known) return migrations.length === 0;
  return (await readVersion(send, table)) >= migrations.length;
}

/**
 * Migrates the tables to the newest version, in the transaction of `send`. If several programs start
 * concurrently, one migrates and the others wait.
 */
export async function migrate(send: Send, { name, migrations }: Tables): Promise<void> {
  const table = tableOf(name);
  await send({ text: `SELECT pg_advisory_xact_lock(hashtextextended('${table}', 0))` });
  await send({
    text: `CREATE TABLE IF NOT EXISTS ${table} (
      version    integer PRIMARY KEY,
      applied_at timestamptz NOT NULL DEFAULT now()
    )`,
  });
  const version = await readVersion(send, table);
  for (const [index, migration] of migrations.entries()) {
    if (index < version) continue;
    await send({ text: migration });
    await send({ text: `INSERT INTO ${table} (version) VALUES (${index + 1})` });
  }
}

async function readVersion(send: Send, table: string): Promise<number> {
  const { rows } = await send({
    text: `SELECT coalesce(max(version), 0) AS version FROM ${table}`,
  });
  return Number(rows[0]?.version);
}

/** @throws {RangeError} if `name` cannot be part of the name of a table */
function tableOf(name: string): string {
  if (/^[a-z][a-z0-9_]{0,40}$/.test(name)) return `${name}_migrations`;
  throw new RangeError(`Cannot name a table after "${name}": expected lower-case letters`);
}
