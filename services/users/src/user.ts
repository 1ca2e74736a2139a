/** Longest name of a user, in characters. */
export const MAX_NAME_LENGTH = 200;

/** Longest e-mail address of a user, in characters (RFC 5321 §4.5.3.1.3, without the angle brackets). */
export const MAX_EMAIL_LENGTH = 254;

/** A person known to the service. */
export interface User {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** 1 at first, and one more with each change. */
  readonly version: number;
}

/** What it takes to create a user. */
export interface NewUser {
  readonly name: string;
  readonly email: string;
}

/** What may change; what is left out stays as it is. */
export type UserChanges = Partial<NewUser>;

/** Where new ids and the time come from. */
export interface Origins {
  readonly newId: () => string;
  readonly now: () => Date;
}

/** A user as it is first stored. */
export function createUser({ name, email }: NewUser, { newId, now }: Origins): User {
  const createdAt = now();
  return { id: newId(), name, email, createdAt, updatedAt: createdAt, version: 1 };
}
