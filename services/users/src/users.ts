import { preconditionFailed } from '@fw/middleware/preconditions';
import { ConflictError, NotFoundError } from 'fw';

import type { InsertOptions, UpdateOptions, UserStore } from './store.ts';
import type { NewUser, Origins, Outcome, User, UserChanges } from './user.ts';

/**
 * Returns a user.
 *
 * @throws {NotFoundError} if the user does not exist
 */
export async function getUser(store: UserStore, id: string): Promise<User> {
  return requireUser((await store.find(id)) ?? 'missing', id);
}

/**
 * Creates a user.
 *
 * @throws {ConflictError} if the e-mail address must be unique, and another user has it
 */
export async function createUser(
  store: UserStore,
  { name, email }: NewUser,
  { newId, now }: Origins,
  options?: InsertOptions,
): Promise<User> {
  const createdAt = now();
  const user = { id: newId(), name, email, createdAt, updatedAt: createdAt, version: 1 };
  return requireUser(await store.insert(user, options), user.id);
}

/**
 * Changes a user.
 *
 * @throws {NotFoundError} if the user does not exist
 * @throws {PreconditionFailedError} if `ifVersion` is not the current version
 * @throws {ConflictError} if the e-mail address must be unique, and another user has it
 */
export async function changeUser(
  store: UserStore,
  id: string,
  changes: UserChanges,
  options: UpdateOptions,
): Promise<User> {
  return requireUser(await store.update(id, changes, options), id);
}

/**
 * Deletes a user.
 *
 * @throws {NotFoundError} if the user does not exist
 * @throws {PreconditionFailedError} if `ifVersion` is not the current version
 */
export async function deleteUser(store: UserStore, id: string, ifVersion?: number): Promise<void> {
  requireUser(await store.delete(id, ifVersion), id);
}

/** Throws the error of an operation on the user `id` that changed nothing. */
function requireUser(outcome: Outcome, id: string): User {
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
