import { createBatch, isTaken, openPostgres, type PostgresOptions } from '@fw/service/postgres';

import {
  type DeleteOutcome,
  type Idempotency,
  type InsertOutcome,
  MAX_BATCH_USERS,
  type PageOptions,
  type StatisticsOptions,
  type UpdateOutcome,
  type UserPage,
  type UserStore,
} from '../store.ts';
import type { User, UserChanges } from '../user.ts';
import { cutBatch, isLarge } from './batch.ts';
import { USERS_MIGRATIONS } from './postgres-migrations.ts';
import * as statements from './postgres-statements.ts';
import { fromReplay, REMEMBERED_MS, toReplay } from './replay.ts';
import { isStale, type Row, toUser } from './row.ts';
import { daysOf, nameDays } from './statistics.ts';

/** Options of `openPostgres`; the store knows its name and migrations. */
export type PostgresUserStoreOptions = Omit<PostgresOptions, 'name' | 'migrations'>;

/** Time between two deletions of expired idempotency keys. */
const DELETE_KEYS_EVERY_MS = 60_000;

interface NewUser {
  readonly user: User;
  readonly idempotency?: Idempotency | undefined;
}

/** Opens a store of users in PostgreSQL, which several processes may share. */
export function openPostgresUserStore(options: PostgresUserStoreOptions): UserStore {
  const database = openPostgres({ ...options, name: 'users', migrations: USERS_MIGRATIONS });
  const { query } = database;
  let keysDeletedMs = Number.NEGATIVE_INFINITY;

  const find = createBatch(async (ids: readonly string[]) => {
    const rows = await query(statements.FIND, [ids]);
    const users = new Map(rows.map((row) => [String(row.id), toUser(row)]));
    return ids.map((id) => users.get(id));
  });

  const insert = createBatch(async (users: readonly User[]) => {
    await query(statements.INSERT, toColumns(users));
    return users.map(() => undefined);
  });

  const insertUnique = createBatch(async (rows: readonly NewUser[]): Promise<InsertOutcome[]> => {
    const created = await createRows(rows);
    return Promise.all(
      rows.map(async (row) =>
        created.has(row.user.id) ? { outcome: 'created', user: row.user } : explainConflict(row),
      ),
    );
  });

  /** Resolves with the ids of the users that were created. */
  async function createRows(rows: readonly NewUser[]): Promise<ReadonlySet<string>> {
    const keys = rows.map(({ idempotency }) => idempotency?.key ?? null);
    const fingerprints = rows.map(({ idempotency }) => idempotency?.fingerprint ?? null);
    const replays = rows.map(({ user, idempotency }) => (idempotency ? toReplay(user) : null));
    try {
      const created = await query(statements.INSERT_UNIQUE, [
        ...toColumns(rows.map(({ user }) => user)),
        ...[keys, fingerprints, replays],
      ]);
      return new Set(created.map(({ id }) => String(id)));
    } catch (error) {
      if (rows.length > 1 || !isTaken(error, 'users_idempotency_pkey')) throw error;
      return new Set();
    }
  }

  async function explainConflict({ user, idempotency }: NewUser): Promise<InsertOutcome> {
    if (!idempotency) return { outcome: 'email-taken' };
    const { key, fingerprint } = idempotency;
    const expiredAt = new Date(user.createdAt.getTime() - REMEMBERED_MS);
    const [known] = await query(statements.RECALL, [key, expiredAt]);
    if (known?.fingerprint === fingerprint) {
      return { outcome: 'replayed', user: fromReplay(String(known.user)) };
    }
    if (known) return { outcome: 'key-reused' };
    const [expired] = await query(statements.DELETE_KEY, [key, expiredAt]);
    return expired ? insertUnique({ user, idempotency }) : { outcome: 'email-taken' };
  }

  /** Deletes expired keys in the background: the caller does not wait. */
  function deleteExpiredKeys(now: Date): void {
    if (now.getTime() - keysDeletedMs < DELETE_KEYS_EVERY_MS) return;
    keysDeletedMs = now.getTime();
    query(statements.DELETE_KEYS, [new Date(keysDeletedMs - REMEMBERED_MS)]).catch(() => {});
  }

  async function readBatch(rows: readonly Row[], most?: number): Promise<UserPage> {
    const { rows: batch, ...rest } = cutBatch(rows, most);
    const [first] = batch;
    if (!first || !isLarge(first)) return { users: batch.map(toUser), ...rest };
    const user = await find(String(first.id));
    return { users: user ? [user] : [], ...rest };
  }

  return {
    async list({ start, limit } = { start: 0, limit: Number.MAX_SAFE_INTEGER }) {
      const rows = await query(statements.LIST, [Math.min(limit, MAX_BATCH_USERS + 1), start]);
      const users = rows.filter(({ id }) => id !== null);
      return { ...(await readBatch(users)), total: Number(rows[0]?.total) };
    },

    async page({ after = 0, limit, email }: PageOptions) {
      const position = Math.max(0, Math.min(Math.floor(after), Number.MAX_SAFE_INTEGER));
      const most = Math.min(limit, MAX_BATCH_USERS);
      const rows =
        email === undefined
          ? await query(statements.PAGE, [position, most + 1])
          : await query(statements.PAGE_OF_EMAIL, [position, most + 1, email]);
      return readBatch(rows, most);
    },

    find,

    async statistics(options: StatisticsOptions) {
      const { first, end } = daysOf(options);
      const rows = await query(statements.FIGURES, [first, end, options.domains]);
      const ofKind = (kind: string) => rows.filter((row) => row.kind === kind);
      return {
        total: Number(ofKind('total')[0]?.count),
        byDay: nameDays(
          options,
          ofKind('day').map(({ name, count }) => [Number(name), Number(count)]),
        ),
        byDomain: ofKind('domain').map(({ name, count }) => ({
          domain: String(name),
          count: Number(count),
        })),
      };
    },

    insert,

    insertUnique(user, idempotency) {
      if (idempotency) deleteExpiredKeys(user.createdAt);
      return insertUnique({ user, idempotency });
    },

    async update(id, changes, updatedAt) {
      const [row] = await query(statements.UPDATE, toChange(id, changes, updatedAt));
      return row && toUser(row);
    },

    async updateUnique(id, changes, updatedAt, ifVersion): Promise<UpdateOutcome> {
      const values = [...toChange(id, changes, updatedAt), ifVersion ?? null];
      for (;;) {
        const row = await query(statements.UPDATE_UNIQUE, values).then(
          ([updated]) => updated,
          ignoreEmailTaken,
        );
        if (row) return { outcome: 'updated', user: toUser(row) };
        const [present] = await query(statements.EXPLAIN, [id, changes.email ?? null]);
        if (!present) return { outcome: 'missing' };
        if (isStale(present, ifVersion)) return { outcome: 'stale' };
        if (present.is_taken) return { outcome: 'email-taken' };
      }
    },

    async delete(id, ifVersion): Promise<DeleteOutcome> {
      for (;;) {
        const [deleted] = await query(statements.DELETE, [id, ifVersion ?? null]);
        if (deleted) return 'deleted';
        const [present] = await query(statements.EXPLAIN, [id, null]);
        if (!present) return 'missing';
        if (isStale(present, ifVersion)) return 'stale';
      }
    },

    migrate: () => database.migrate(),

    async check() {
      await database.check();
      await query(statements.CHECK);
    },

    close: () => database.close(),
  };
}

/** One array per column, for `unnest`. */
function toColumns(users: readonly User[]): unknown[] {
  return [
    users.map(({ id }) => id),
    users.map(({ name }) => name),
    users.map(({ email }) => email),
    users.map(({ createdAt }) => createdAt),
    users.map(({ updatedAt }) => updatedAt),
    users.map(({ version }) => version),
  ];
}

function toChange(id: string, { name, email }: UserChanges, updatedAt: Date): unknown[] {
  return [id, name ?? null, email ?? null, updatedAt];
}

function ignoreEmailTaken(error: unknown): undefined {
  if (!isTaken(error, 'users_claimed_email')) throw error;
}
