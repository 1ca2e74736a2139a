import { randomUUID } from 'node:crypto';

import { BadRequestError, NotFoundError } from 'fw';

export interface User {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Stores users in memory. */
export class UserStore {
  readonly #users = new Map<string, User>();

  list(): User[] {
    return [...this.#users.values()];
  }

  /** @throws {NotFoundError} if the user does not exist */
  find(id: string): User {
    const user = this.#users.get(id);
    if (!user) throw new NotFoundError(`User "${id}" not found`);
    return user;
  }

  /** @throws {BadRequestError} if the name or email is missing */
  create(input: unknown): User {
    const name = readText(input, 'name');
    const email = readText(input, 'email');
    if (!name || !email) throw new BadRequestError('name and email are required');
    const now = new Date();
    return this.#save({ id: randomUUID(), name, email, createdAt: now, updatedAt: now });
  }

  /**
   * Overwrites name and email if `input` contains them; ignores other properties.
   *
   * @throws {NotFoundError} if the user does not exist
   */
  update(id: string, input: unknown): User {
    const user = this.find(id);
    const name = readText(input, 'name') ?? user.name;
    const email = readText(input, 'email') ?? user.email;
    return this.#save({ ...user, name, email, updatedAt: new Date() });
  }

  /** @throws {NotFoundError} if the user does not exist */
  delete(id: string): void {
    this.#users.delete(this.find(id).id);
  }

  #save(user: User): User {
    this.#users.set(user.id, user);
    return user;
  }
}

/** The string at `key` of an unknown body. */
function readText(body: unknown, key: string): string | undefined {
  const isObject = typeof body === 'object' && body !== null;
  const value: unknown = isObject ? Reflect.get(body, key) : undefined;
  return typeof value === 'string' ? value : undefined;
}
