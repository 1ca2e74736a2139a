import { hash } from 'node:crypto';

import { foldCase } from '@fw/core/extension';
import { preconditionFailed } from '@fw/middleware/preconditions';
import { createCursor, type Slice } from '@fw/service';
import { ConflictError, type HttpError, NotFoundError, UnprocessableContentError } from 'fw';

import type { FiguresQuery, ListQuery } from './schemas.ts';
import type { PageOptions, UserFigures, UserList, UserPage, UserStore } from './store.ts';
import { createUser, type NewUser, type Origins, type User, type UserChanges } from './user.ts';

/** A page of users and the cursor of the next page. */
export interface CursorPage {
  readonly users: readonly User[];
  readonly nextCursor?: string;
}

/**
 * The operations on users. Converts outcomes of the store to HTTP errors. Version 1 allows several users
 * with the same e-mail address (`createV1`, `changeV1`); version 2 does not (`create`, `change`).
 */
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
  async page({ limit, cursor, email }: ListQuery): Promise<CursorPage> {
    const cursors = createCursor(`users email=${foldCase(email ?? '')}`, 'integer');
    const [after] = cursor === undefined ? [] : cursors.decode(cursor);
    const { users, next } = await this.#store.page({ after, limit, email });
    return { users, ...(next !== undefined && { nextCursor: cursors.encode(next) }) };
  }

  /**
   * Returns a user.
   *
   * @throws {NotFoundError} if the user does not exist
   */
  async find(id: string): Promise<User> {
    const user = await this.#store.find(id);
    if (!user) throw errorOf('missing', id);
    return user;
  }

  /** Creates a user, even if another user has the e-mail address. */
  async createV1(newUser: NewUser): Promise<User> {
    const user = createUser(newUser, this.#origins);
    await this.#store.insert(user);
    return user;
  }

  /**
   * Creates a user. If `key` was used for the same user before, returns the user as created then.
   *
   * @throws {ConflictError} if another user has the e-mail address
   * @throws {UnprocessableContentError} if `key` was used for another user
   */
  async create(newUser: NewUser, key?: string): Promise<User> {
    const user = createUser(newUser, this.#origins);
    const result = await this.#store.insertUnique(
      user,
      key === undefined ? undefined : { key, fingerprint: fingerprintOf(newUser) },
    );
    if ('user' in result) return result.user;
    throw errorOf(result.outcome, user.id);
  }

  /**
   * Changes a user, even if another user has the e-mail address.
   *
   * @throws {NotFoundError} if the user does not exist
   */
  async changeV1(id: string, changes: UserChanges): Promise<User> {
    const user = await this.#store.update(id, changes, this.#origins.now());
    if (!user) throw errorOf('missing', id);
    return user;
  }

  /**
   * Changes a user.
   *
   * @throws {NotFoundError} if the user does not exist
   * @throws {PreconditionFailedError} if `ifVersion` is not the current version
   * @throws {ConflictError} if another user has the e-mail address
   */
  async change(id: string, changes: UserChanges, ifVersion?: number): Promise<User> {
    const now = this.#origins.now();
    const result = await this.#store.updateUnique(id, changes, now, ifVersion);
    if ('user' in result) return result.user;
    throw errorOf(result.outcome, id);
  }

  /**
   * Deletes a user.
   *
   * @throws {NotFoundError} if the user does not exist
   * @throws {PreconditionFailedError} if `ifVersion` is not the current version
   */
  async remove(id: string, ifVersion?: number): Promise<void> {
    const outcome = await this.#store.delete(id, ifVersion);
    if (outcome !== 'deleted') throw errorOf(outcome, id);
  }

  /** Returns the figures of version 2. */
  figures({ days, domains }: FiguresQuery): Promise<UserFigures> {
    return this.#store.figures({ days, domains, now: this.#origins.now() });
  }
}

type Rejection = 'missing' | 'stale' | 'email-taken' | 'key-reused';

/** The error of an operation that the store rejected. */
function errorOf(outcome: Rejection, id: string): HttpError {
  switch (outcome) {
    case 'missing':
      return new NotFoundError(`User "${id}" not found`);
    case 'stale':
      return preconditionFailed();
    case 'email-taken':
      return new ConflictError('another user has this e-mail address');
    case 'key-reused':
      return new UnprocessableContentError('Idempotency-Key was used with another body');
  }
}

/** Equal for bodies with the same content, independent of their spelling. */
function fingerprintOf({ name, email }: NewUser): string {
  return hash('sha256', JSON.stringify([name, email]), 'base64url');
}
