import { foldCase } from '@fw/core/extension';
import { preconditionFailed } from '@fw/middleware/preconditions';
import { createCursor, type Slice } from '@fw/service';
import { ConflictError, NotFoundError, UnprocessableContentError } from 'fw';

import type { FiguresQuery, ListQuery, UserFigures } from './schemas.ts';
import type {
  InsertOptions,
  PageOptions,
  UpdateOptions,
  UserList,
  UserPage,
  UserStore,
} from './store.ts';
import {
  createUser,
  type NewUser,
  type Origins,
  type Outcome,
  type User,
  type UserChanges,
} from './user.ts';

/** The operations on users. Converts outcomes of the store to HTTP errors. */
export class Users {
  readonly #store: UserStore;
  readonly #origins: Origins;

  constructor(store: UserStore, origins: Origins) {
    this.#store = store;
    this.#origins = origins;
  }

  /** Returns the first batch of a slice, by default of all users, and the total number of users. */
  list(slice?: Slice): Promise<UserList> {
    return this.#store.list(slice);
  }

  /** Returns the batch after a position that `list` or `batch` returned. */
  batch(options: PageOptions): Promise<UserPage> {
    return this.#store.page(options);
  }

  /**
   * Returns a page of the list of version 2.
   *
   * @throws {BadRequestError} if a list with this e-mail filter did not issue the cursor
   */
  async page({ limit, cursor, email }: ListQuery) {
    const cursors = createCursor(`users email=${foldCase(email ?? '')}`, 'integer');
    const [after] = cursor === undefined ? [] : cursors.decode(cursor);
    const { users, next } = await this.#store.page({ after, limit, email });
    return { users, nextCursor: next === undefined ? undefined : cursors.encode(next) };
  }

  /**
   * Returns a user.
   *
   * @throws {NotFoundError} if the user does not exist
   */
  async find(id: string): Promise<User> {
    return userOf((await this.#store.find(id)) ?? 'missing', id);
  }

  /**
   * Creates a user. If the idempotency key was used for the same user before, returns the user as created then.
   *
   * @throws {ConflictError} if the e-mail address must be unique, and another user has it
   * @throws {UnprocessableContentError} if the idempotency key was used for another user
   */
  async create(newUser: NewUser, options?: InsertOptions): Promise<User> {
    const user = createUser(newUser, this.#origins);
    return userOf(await this.#store.insert(user, options), user.id);
  }

  /**
   * Changes a user.
   *
   * @throws {NotFoundError} if the user does not exist
   * @throws {PreconditionFailedError} if `ifVersion` is not the current version
   * @throws {ConflictError} if the e-mail address must be unique, and another user has it
   */
  async change(
    id: string,
    changes: UserChanges,
    options?: Omit<UpdateOptions, 'updatedAt'>,
  ): Promise<User> {
    const updatedAt = this.#origins.now();
    return userOf(await this.#store.update(id, changes, { ...options, updatedAt }), id);
  }

  /**
   * Deletes a user.
   *
   * @throws {NotFoundError} if the user does not exist
   * @throws {PreconditionFailedError} if `ifVersion` is not the current version
   */
  async remove(id: string, ifVersion?: number): Promise<void> {
    userOf(await this.#store.delete(id, ifVersion), id);
  }

  /** Returns the figures of version 2. */
  figures({ days, domains }: FiguresQuery): Promise<UserFigures> {
    return this.#store.figures({ days, domains, now: this.#origins.now() });
  }
}

/** Returns the user of an outcome; throws the error of a rejected operation on the user `id`. */
function userOf(outcome: Outcome, id: string): User {
  switch (outcome) {
    case 'missing':
      throw new NotFoundError(`User "${id}" not found`);
    case 'stale':
      throw preconditionFailed();
    case 'email-taken':
      throw new ConflictError('another user has this e-mail address');
    case 'key-reused':
      throw new UnprocessableContentError('Idempotency-Key was used with another body');
    default:
      return outcome;
  }
}
