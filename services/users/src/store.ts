import type { Idempotency, IdempotencyStore } from '@fw/middleware/idempotency';
import type { Slice } from '@fw/service';

import type { Outcome, User, UserChanges } from './user.ts';

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

/** Selects what is counted. */
export interface FiguresOptions {
  /** Number of days (UTC); the last one is that of `now`. */
  readonly days: number;
  /** Maximum number of e-mail domains. */
  readonly domains: number;
  readonly now: Date;
}

export interface UserFigures {
  readonly total: number;
  /** Users created on each day, oldest day first; `date` is as `2026-11-21`. */
  readonly byDay: readonly { readonly date: string; readonly count: number }[];
  /** Users by e-mail domain, the largest first. */
  readonly byDomain: readonly { readonly domain: string; readonly count: number }[];
}

/** How version 2 stores a new user. */
export interface InsertOptions {
  /** If another user has the e-mail address, regardless of case, `insert` resolves with `email-taken`. */
  readonly uniqueEmail: true;
  /** Stores the user in the same transaction, as a text that `readCreated` reads. */
  readonly idempotency?: Idempotency | undefined;
}

/** How a user is changed. */
export interface UpdateOptions {
  readonly updatedAt: Date;
  /** As when a user is inserted. Default false, as in version 1. */
  readonly uniqueEmail?: boolean;
  /** The version that must be the current one. Default: any. */
  readonly ifVersion?: number | undefined;
}

/**
 * Stores users in the order of their creation. A change is durable once its method resolves. Several
 * processes may use the same users concurrently. While the store is unavailable, methods reject with a
 * `ServiceUnavailableError`, which contains the time after which to try again.
 *
 * An operation that changes nothing resolves with the reason. Version 1 of the API permits several users
 * with the same e-mail address; version 2 sets `uniqueEmail`.
 */
export interface UserStore {
  /** Stores the users that were created with an idempotency key, for `idempotency()`. */
  readonly idempotency: IdempotencyStore;
  /** Reads a user from the text in `idempotency`. */
  readCreated(text: string): User;
  /** Returns the first batch of a slice, by default of all users; `total` is from the same snapshot. */
  list(slice?: Slice): Promise<UserList>;
  /** Returns one batch: at most `limit` users, and fewer if they are long. */
  page(options: PageOptions): Promise<UserPage>;
  find(id: string): Promise<User | undefined>;
  /** Counts users. */
  figures(options: FiguresOptions): Promise<UserFigures>;
  /** Without options, several users may have the same e-mail address. */
  insert(user: User, options?: InsertOptions): Promise<Outcome>;
  /** Changes the user atomically. */
  update(id: string, changes: UserChanges, options: UpdateOptions): Promise<Outcome>;
  /** Deletes the user, unless `ifVersion` is not the current version; resolves with the deleted user. */
  delete(id: string, ifVersion?: number): Promise<Outcome>;
  /**
   * Resolves with the versions to which the tables were migrated. SQLite migrates when the store is opened,
   * PostgreSQL on this call or on first use.
   */
  migrate(): Promise<readonly number[]>;
  /** Rejects if the store cannot be read. */
  check(): Promise<void>;
  close(): Promise<void>;
}
