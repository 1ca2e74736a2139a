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
