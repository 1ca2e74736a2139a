import type { User, UserChanges } from './user.ts';

/** A stretch of the list: at most `limit` users, from the one at `start` on, which counts from 0. */
export interface Slice {
  readonly start: number;
  readonly limit: number;
}

/** Some users, and how many there are in all. */
export interface UserList {
  readonly users: readonly User[];
  readonly total: number;
}

/**
 * Keeps users in the order of their creation. Whatever a method has resolved for is kept for good;
 * other processes may work on the same users at the same time.
 */
export interface UserStore {
  /** All users, or a slice of them; `total` is of the same moment. */
  list(slice?: Slice): Promise<UserList>;
  find(id: string): Promise<User | undefined>;
  insert(user: User): Promise<void>;
  /** The user as changed, in one step; `undefined` if there is none. */
  update(id: string, changes: UserChanges, updatedAt: Date): Promise<User | undefined>;
  /** Whether there was such a user. */
  delete(id: string): Promise<boolean>;
  /** Rejects if the store cannot be read. */
  check(): Promise<void>;
  close(): Promise<void>;
}
