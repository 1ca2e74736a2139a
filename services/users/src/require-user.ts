import { preconditionFailed } from '@fw/middleware/preconditions';
import { ConflictError, NotFoundError } from 'fw';

import type { Outcome, User } from './user.ts';

/**
 * Returns the user of an operation on `id`.
 *
 * @throws {NotFoundError} if the user does not exist
 * @throws {PreconditionFailedError} if the required version is not the current one
 * @throws {ConflictError} if another user has the e-mail address
 */
export function requireUser(outcome: Outcome | undefined, id: string): User {
  switch (outcome) {
    case undefined:
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
