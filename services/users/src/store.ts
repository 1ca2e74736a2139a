import { postgresOptions, type ServiceRuntime, type Slice } from '@fw/service';

import type { UsersConfig } from './config.ts';
import type { User, UserChanges } from './user.ts';

/** Selects the users of a page. */
export interface PageOptions {
  /** The `next` of the previous page. Default: the page starts with the first user. */
  readonly after?: number | undefined;
  readonly limit: number;
  /** Only users with this e-mail address, regardless of case. */
  readonly email?: string | undefined;
}

/** Users in the order of their creation. */
export interface UserPage {
  readonly users: readonly User[];
  /** The position of the last user if more follow. */
  readonly next?: number;
}

/** The first batch of a slice, and the total number of users. */
export interface UserList extends UserPage {
  readonly total: number;
}

/** Identifies a request, so that repeating it has no further effect. */
export interface Idempotency {
  readonly key: string;
  /** Equal for two requests only if they have the same content. */
  readonly fingerprint: string;
}

export type InsertOutcome =
  | { readonly outcome: 'created'; readonly user: User }
  /** The key was used within the last 24 hours. The user is as created then, without later changes. */
  | { readonly outcome: 'replayed'; readonly user: User }
  | { readonly outcome: 'email-taken' }
  /** The key was used with another fingerprint. */
  | { readonly outcome: 'key-reused' };

export type UpdateOutcome =
  | { readonly outcome: 'updated'; readonly user: User }
  | { readonly outcome: 'missing' }
  /** `ifVersion` is not the current version. */
  | { readonly outcome: 'stale' }
  | { readonly outcome: 'email-taken' };

export type DeleteOutcome = 'deleted' | 'missing' | 'stale';

/** Selects the days and e-mail domains to count. */
export interface FiguresOptions {
  /** Number of days (UTC), including the day of `now`. */
  readonly days: number;
  /** Maximum number of e-mail domains. */
  readonly domains: number;
  readonly now: Date;
}

/** The number of users: in total, by day of creation and by e-mail domain. */
export interface UserFigures {
  readonly total: number;
  /** Users created on each day (UTC), oldest day first. */
  readonly byDay: readonly { readonly date: string; readonly count: number }[];
  /** Users by e-mail domain, in lower case, largest number first. */
  readonly byDomain: readonly { readonly domain: string; readonly count: number }[];
}

/**
 * Stores users in the order of their creation. A change is durable once its method resolves. Several
 * processes may use the same users concurrently. While the store is unavailable, methods reject with a
 * `ServiceUnavailableError`, which contains the time after which to try again.
 *
 * `list`, `insert` and `update` exist for version 1 of the API, in which several users may have the same
 * e-mail address. `insertUnique` and `updateUnique` exist for version 2, in which e-mail addresses are
 * unique. The other methods do not differ by version.
 */
export interface UserStore {
  /**
   * Version 1: returns the first batch of a slice, by default of all users; `total` is from the same
   * snapshot.
   */
  list(slice?: Slice): Promise<UserList>;
  /** Returns one batch: at most `limit` users; it ends early before a large user and when it is full. */
  page(options: PageOptions): Promise<UserPage>;
  find(id: string): Promise<User | undefined>;
  figures(options: FiguresOptions): Promise<UserFigures>;
  /** Version 1: stores the user, even if another user has the e-mail address. */
  insert(user: User): Promise<void>;
  /**
   * Version 2: stores the user, unless another user has the e-mail address, regardless of case, or the
   * key was used before.
   */
  insertUnique(user: User, idempotency?: Idempotency): Promise<InsertOutcome>;
  /**
   * Version 1: changes the user atomically, even if another user has the e-mail address. Resolves with
   * the changed user; `undefined` if the user does not exist.
   */
  update(id: string, changes: UserChanges, updatedAt: Date): Promise<User | undefined>;
  /**
   * Version 2: changes the user atomically, unless another user has the e-mail address or `ifVersion` is
   * not the current version.
   */
  updateUnique(
    id: string,
    changes: UserChanges,
    updatedAt: Date,
    ifVersion?: number,
  ): Promise<UpdateOutcome>;
  /** Deletes the user, unless `ifVersion` is not the current version. */
  delete(id: string, ifVersion?: number): Promise<DeleteOutcome>;
  /** Migrates the tables to the newest version; the first use does the same. */
  migrate(): Promise<void>;
  /** Rejects if the store cannot be read. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens the configured store: PostgreSQL if `DATABASE_URL` is set, otherwise SQLite. Only the code of that
 * store is loaded.
 *
 * @throws {ServiceUnavailableError} naming the SQLite file, if another process locks it longer than
 *   `DATABASE_TIMEOUT_MS`
 * @throws {Error} naming the SQLite file, if it cannot be opened or belongs to another program
 */
export async function openStore(
  config: UsersConfig,
  runtime: ServiceRuntime = {},
): Promise<UserStore> {
  const { DATABASE_URL: url, DATABASE_FILE: file, DATABASE_TIMEOUT_MS: timeoutMs } = config;
  if (url === undefined) {
    const { openSqliteUserStore } = await import('./store/sqlite.ts');
    return openSqliteUserStore(file, { timeoutMs });
  }
  const { openPostgresUserStore } = await import('./store/postgres.ts');
  return openPostgresUserStore({ ...postgresOptions(config, runtime), url });
}
