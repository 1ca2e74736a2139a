import { foldCase } from '@fw/core/extension';
import { preconditionFailed } from '@fw/middleware/preconditions';
import { createCursor, type Slice } from '@fw/service';
import { ConflictError, NotFoundError } from 'fw';

import type { FiguresQuery, ListQuery, UserFigures } from './schemas.ts';
import type {
  InsertOptions,
  PageOptions,
  UpdateOptions,
  UserList,
  UserPage,
  UserStore,
} from './store.ts';
import type { NewUser, Origins, Outcome, User, UserChanges } from './user.ts';

/** The operations on users. One that changes nothing throws the error of `userOf`. */
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

  /** Returns a user. */
  async find(id: string): Promise<User> {
    return userOf((await this.#store.find(id)) ?? 'missing', id);
  }

  /** Creates a user. */
  async create({ name, email }: NewUser, options?: InsertOptions): Promise<User> {
    const { newId, now } = this.#origins;
    const createdAt = now();
    const user = { id: newId(), name, email, createdAt, updatedAt: createdAt, version: 1 };
    return userOf(await this.#store.insert(user, options), user.id);
  }

  /** Changes a user. */
  async change(
    id: string,
    changes: UserChanges,
    options?: Omit<UpdateOptions, 'updatedAt'>,
  ): Promise<User> {
    const updatedAt = this.#origins.now();
    return userOf(await this.#store.update(id, changes, { ...options, updatedAt }), id);
  }

  /** Deletes a user. */
  async remove(id: string, ifVersion?: number): Promise<void> {
    userOf(await this.#store.delete(id, ifVersion), id);
  }

  /** Returns the figures of version 2. */
  figures({ days, domains }: FiguresQuery): Promise<UserFigures> {
    return this.#store.figures({ days, domains, now: this.#origins.now() });
  }
}

/**
 * Returns the user of an operation on the user `id`.
 *
 * @throws {NotFoundError} if the user does not exist
 * @throws {PreconditionFailedError} if `ifVersion` is not the current version
 * @throws {ConflictError} if the e-mail address must be unique, and another user has it
 */
function userOf(outcome: Outcome, id: string): User {
  switch (outcome) {
    case 'missing':
      throw new NotFoundError(`User "${id}" not found`);
    case 'stale':
      throw preconditionFailed();
    case 'email-taken':
      throw new ConflictError('another user has this e-mail address', { code: 'EMAIL_TAKEN' });
    default:
      return outcome;
  }
}
