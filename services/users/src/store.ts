import type { User, UserChanges } from './user.ts';

/** A stretch of the list: at most `limit` users, from the one at `start` on, which counts from 0. */
export interface Slice {
  readonly start: number;
  readonly limit: number;
}

/** The first users of a slice, and how many users there are in all. */
export interface UserList {
  readonly users: readonly User[];
  readonly total: number;
  /** The position of the last of `users`, if the slice has more: `page` continues after it. */
  readonly next?: number;
}

/** Which users a page holds. */
export interface PageOptions {
  /** The position that the page before this one ended at. Default: from the first user on. */
  readonly after?: number | undefined;
  readonly limit: number;
  /** Only users with this e-mail, whatever its case. */
  readonly email?: string | undefined;
}

/** Some users in the order of their creation. */
export interface UserPage {
  readonly users: readonly User[];
  /** The position of the last one, if more follow. */
  readonly next?: number;
}

/** What a client calls a request by, so that sending it again does nothing more. */
export interface Idempotency {
  readonly key: string;
  /** Differs if the request does. */
  readonly fingerprint: string;
}

export type InsertOutcome =
  | { readonly outcome: 'created'; readonly user: User }
  /** The key was seen within the last 24 hours: the user as created then, whatever became of it. */
  | { readonly outcome: 'replayed'; readonly user: User }
  | { readonly outcome: 'email-taken' }
  /** The key was seen with another fingerprint. */
  | { readonly outcome: 'key-reused' };

export type UpdateOutcome =
  | { readonly outcome: 'updated'; readonly user: User }
  | { readonly outcome: 'missing' }
  /** The user is no longer of the version that the change was meant for. */
  | { readonly outcome: 'stale' }
  | { readonly outcome: 'email-taken' };

export type DeleteOutcome = 'deleted' | 'missing' | 'stale';

/** What is counted, and up to when. */
export interface StatisticsOptions {
  /** How many days, the one of `now` included. */
  readonly days: number;
  /** How many e-mail domains at most. */
  readonly domains: number;
  readonly now: Date;
}

/** How many users there are, and where they come from. */
export interface UserStatistics {
  readonly total: number;
  /** Users created on each of the days (UTC), the oldest first. */
  readonly byDay: readonly { readonly date: string; readonly count: number }[];
  /** Users of each e-mail domain, in lower case, the largest first. */
  readonly byDomain: readonly { readonly domain: string; readonly count: number }[];
}

/** Most users that `list` and `page` return at once. */
export const MAX_BATCH_USERS = 250;

/** Most characters of names and e-mails that `list` and `page` return at once, of more than one user. */
export const MAX_BATCH_CHARACTERS = 32_768;

/**
 * Largest name and e-mail together, in bytes, of an ordinary user: no user within the limits of the API
 * has more. A larger user is a batch of its own, so that the size of a batch has a bound that does not
 * depend on how many large users are stored.
 */
export const MAX_ORDINARY_BYTES = 2_000;

/**
 * Keeps users in the order of their creation. Whatever a method has resolved for is kept for good;
 * other processes may work on the same users at the same time. A store that cannot be used right now
 * rejects with a `ServiceUnavailableError` that says when to try again.
 */
export interface UserStore {
  /** The first batch of a slice, by default of all users; `total` is of the same moment. */
  list(slice?: Slice): Promise<UserList>;
  /** One batch: at most `limit` users, or fewer before a large user or where the batch is full. */
  page(options: PageOptions): Promise<UserPage>;
  find(id: string): Promise<User | undefined>;
  statistics(options: StatisticsOptions): Promise<UserStatistics>;
  /** Keeps what it is given, even if another user has the e-mail. */
  insert(user: User): Promise<void>;
  /** Keeps the user, unless another one has the e-mail, whatever its case, or the key was seen before. */
  insertUnique(user: User, idempotency?: Idempotency): Promise<InsertOutcome>;
  /** The user as changed, in one step; `undefined` if there is none. Another user may have the e-mail. */
  update(id: string, changes: UserChanges, updatedAt: Date): Promise<User | undefined>;
  /** Changes the user in one step, unless another one has the e-mail or `ifVersion` is given and passed. */
  updateUnique(
    id: string,
    changes: UserChanges,
    updatedAt: Date,
    ifVersion?: number,
  ): Promise<UpdateOutcome>;
  /** Deletes the user, unless `ifVersion` is given and passed. */
  delete(id: string, ifVersion?: number): Promise<DeleteOutcome>;
  /** Brings what the users are kept in to the newest version; the first use does so too. */
  migrate(): Promise<void>;
  /** Rejects if the store cannot be read. */
  check(): Promise<void>;
  close(): Promise<void>;
}
