/** Maximum length of a name, in characters. */
export const MAX_NAME_LENGTH = 200;

/** Maximum length of an e-mail address, in characters (RFC 5321 §4.5.3.1.3, without the angle brackets). */
export const MAX_EMAIL_LENGTH = 254;

export interface User {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** Starts at 1 and increases with each change. */
  readonly version: number;
}

/** The fields that a client sets when it creates a user. */
export type NewUser = Pick<User, 'name' | 'email'>;

/** The fields to change; omitted fields keep their value. */
export type UserChanges = Partial<NewUser>;

/** The user after an operation, or why the operation changed nothing. */
export type Outcome = User | 'missing' | 'stale' | 'email-taken';

/** Where ids and the current time come from. */
export interface Origins {
  readonly newId: () => string;
  readonly now: () => Date;
}

/** Returns a new user, not yet stored. */
export function createUser({ name, email }: NewUser, { newId, now }: Origins): User {
  const createdAt = now();
  return { id: newId(), name, email, createdAt, updatedAt: createdAt, version: 1 };
}
