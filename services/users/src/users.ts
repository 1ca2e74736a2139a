import { hash } from 'node:crypto';

import { foldCase } from '@fw/core/extension';
import { preconditionFailed } from '@fw/middleware/preconditions';
import { createCursor } from '@fw/service';
import { ConflictError, NotFoundError, UnprocessableContentError } from 'fw';

import type { FiguresQuery, ListQuery } from './schemas.ts';
import type { UserFigures, UserStore } from './store.ts';
import { createUser, type NewUser, type Origins, type User, type UserChanges } from './user.ts';

/** Some users, and what asks for those after them. */
export interface CursorPage {
  readonly users: readonly User[];
  readonly nextCursor?: string;
}

/** What version 2 does with users, and how it refuses: what a store says becomes an error here. */
export class Users {
  readonly #store: UserStore;
  readonly #origins: Origins;

  constructor(store: UserStore, origins: Origins) {
    this.#store = store;
    this.#origins = origins;
  }

  /** @throws {BadRequestError} if the cursor is none that the list of this e-mail gave out */
  async page({ limit, cursor, email }: ListQuery): Promise<CursorPage> {
    const cursors = createCursor(`users email=${foldCase(email ?? '')}`, 'integer');
    const [after] = cursor === undefined ? [] : cursors.decode(cursor);
    const { users, next } = await this.#store.page({ after, limit, email });
    return { users, ...(next !== undefined && { nextCursor: cursors.encode(next) }) };
  }

  /** @throws {NotFoundError} if there is no such user */
  async find(id: string): Promise<User> {
    const user = await this.#store.find(id);
    if (!user) throw unknownUser(id);
    return user;
  }

  /**
   * The new user, or with a `key` that was used for it before, the one that was created then.
   *
   * @throws {ConflictError} if another user has the e-mail
   * @throws {UnprocessableContentError} if `key` was used for another user
   */
  async create(newUser: NewUser, key?: string): Promise<User> {
    const user = createUser(newUser, this.#origins);
    const result = await this.#store.insertUnique(
      user,
      key === undefined ? undefined : { key, fingerprint: fingerprintOf(newUser) },
    );
    switch (result.outcome) {
      case 'email-taken':
        throw emailTaken();
      case 'key-reused':
        throw new UnprocessableContentError('Idempotency-Key was used with another body');
      default:
        return result.user;
    }
  }

  /**
   * The user as changed; `ifVersion`, if it is given, must still be the present one.
   *
   * @throws {NotFoundError | PreconditionFailedError | ConflictError} if that cannot be
   */
  async change(id: string, changes: UserChanges, ifVersion?: number): Promise<User> {
    const now = this.#origins.now();
    const result = await this.#store.updateUnique(id, changes, now, ifVersion);
    switch (result.outcome) {
      case 'missing':
        throw unknownUser(id);
      case 'stale':
        throw preconditionFailed();
      case 'email-taken':
        throw emailTaken();
      default:
        return result.user;
    }
  }

  /** @throws {NotFoundError | PreconditionFailedError} if there is none of this version */
  async remove(id: string, ifVersion?: number): Promise<void> {
    const outcome = await this.#store.delete(id, ifVersion);
    if (outcome === 'missing') throw unknownUser(id);
    if (outcome === 'stale') throw preconditionFailed();
  }

  figures({ days, domains }: FiguresQuery): Promise<UserFigures> {
    return this.#store.figures({ days, domains, now: this.#origins.now() });
  }
}

/** The one answer for a user that is not there, in both versions. */
export function unknownUser(id: string): NotFoundError {
  return new NotFoundError(`User "${id}" not found`);
}

function emailTaken(): ConflictError {
  return new ConflictError('another user has this e-mail address');
}

/** Equal for bodies that mean the same, however they are written. */
function fingerprintOf({ name, email }: NewUser): string {
  return hash('sha256', JSON.stringify([name, email]), 'base64url');
}
