import {
  checksumOf,
  fromStatement,
  migrationFailed,
  requireUnchanged,
  splitStatements,
} from '../stores/migrations.ts';
import type { Send } from './connections.ts';
import { isFromServer } from './errors.ts';

export interface MigrationOptions {
  /** Prefix of the table that records the migrations, in lower-case letters. */
  readonly name: string;
  /** SQL that leads from each version of the tables to the next; the first creates version 1. */
  readonly migrations: readonly string[];
}

/**
 * Whether the tables have the newest version that this program knows, or a newer one.
 *
 * @throws {Error} naming a migration that has changed since it was applied
 */
export async function isMigrated(
  send: Send,
  { name, migrations }: MigrationOptions,
): Promise<boolean> {
  const table = tableOf(name);
  const { rows } = await send({ text: `SELECT to_regclass('${table}') IS NOT NULL AS is_known` });
  if (!rows[0]?.is_known) return migrations.length === 0;
  return (await readVersion(send, table, migrations)) >= migrations.length;
}

/**
 * Migrates the tables to the newest version, in the transaction of `send`; resolves with the versions that
 * it applied. If several programs start concurrently, one migrates and the others wait.
 *
 * @throws {Error} naming a migration that fails, and its statement, or one that has changed
 */
export async function migrate(
  send: Send,
  { name, migrations }: MigrationOptions,
): Promise<readonly number[]> {
  const table = tableOf(name);
  await send({ text: `SELECT pg_advisory_xact_lock(hashtextextended('${table}', 0))` });
  await send({
    text: `CREATE TABLE IF NOT EXISTS ${table} (
      version    integer PRIMARY KEY,
      applied_at timestamptz NOT NULL DEFAULT now()
    )`,
  });
  const before = await readVersion(send, table, migrations);
  const applied: number[] = [];
  for (const [index, migration] of migrations.entries()) {
    const version = index + 1;
    if (version <= before) continue;
    await apply(send, version, migration);
    await send({ text: `INSERT INTO ${table} (version) VALUES (${version})` });
    applied.push(version);
  }
  if (applied.length > 0) await recordChecksums(send, table, migrations);
  return applied;
}

async function apply(send: Send, version: number, migration: string): Promise<void> {
  for (const text of splitStatements(migration)) {
    if (fromStatement(text) === '') continue;
    try {
      await send({ text });
    } catch (error) {
      // Without a response it is not the statement that failed.
      throw error instanceof Error && isFromServer(error)
        ? migrationFailed(version, text, error)
        : error;
    }
  }
}

/** Also of the versions that an earlier program applied. As the last change, because other programs wait for it. */
async function recordChecksums(
  send: Send,
  table: string,
  migrations: readonly string[],
): Promise<void> {
  const rows = migrations.map((text, index) => `(${index + 1}, '${checksumOf(text)}')`);
  await send({ text: `ALTER TABLE ${table} ADD COLUMN IF NOT EXISTS checksum text` });
  await send({
    text: `UPDATE ${table} AS applied SET checksum = known.checksum
      FROM (VALUES ${rows.join(', ')}) AS known (version, checksum)
      WHERE known.version = applied.version AND applied.checksum IS NULL`,
  });
}

/** @throws {Error} naming a migration that has changed since it was applied */
async function readVersion(
  send: Send,
  table: string,
  migrations: readonly string[],
): Promise<number> {
  const { rows } = await send({
    // A table of an earlier program has no column `checksum`.
    text: `SELECT version, to_jsonb(applied) ->> 'checksum' AS checksum FROM ${table} AS applied`,
  });
  requireUnchanged(migrations, new Map(rows.map((row) => [Number(row.version), row.checksum])));
  return Math.max(0, ...rows.map(({ version }) => Number(version)));
}

/** @throws {RangeError} if `name` cannot be part of the name of a table */
function tableOf(name: string): string {
  if (/^[a-z][a-z0-9_]{0,40}$/.test(name)) return `${name}_migrations`;
  throw new RangeError(`Cannot name a table after "${name}": expected lower-case letters`);
}
