import { randomUUID } from 'node:crypto';

import { BadRequestError, NotFoundError } from 'fw';

export interface User {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Keeps users in memory. */
export class UserStore {
  readonly #users = new Map<string, User>();

  list(): User[] {
    return [...this.#users.values()];
  }

  /** @throws {NotFoundError} if there is no such user */
  find(id: string): User {
    const user = this.#users.get(id);
    if (!user) throw new NotFoundError(`User "${id}" not found`);
    return user;
  }

  /** @throws {BadRequestError} if `input` lacks a name or an email */
  create(input: unknown): User {
    const name = readText(input, 'name');
    const email = readText(input, 'email');
    if (!name || !email) throw new BadRequestError('name and email are required');
    const now = new Date();
    return this.#save({ id: randomUUID(), name, email, createdAt: now, updatedAt: now });
  }

  /**
   * Overwrites what `input` has of name and email; whatever else is in there is left out.
   *
   * @throws {NotFoundError} if there is no such user
   */
  update(id: string, input: unknown): User {
    const user = this.find(id);
    const name = readText(input, 'name') ?? user.name;
    const email = readText(input, 'email') ?? user.email;
    return this.#save({ ...user, name, email, updatedAt: new Date() });
  }

  /** @throws {NotFoundError} if there is no such user */
  delete(id: string): void {
    this.#users.delete(this.find(id).id);
  }

  #save(user: User): User {
    this.#users.set(user.id, user);
    return user;
  }
}

/** The text at `key` of a body that may be anything. */
function readText(body: unknown, key: string): string | undefined {
  const isObject = typeof body === 'object' && body !== null;
  const value: unknown = isObject ? Reflect.get(body, key) : undefined;
  return typeof value === 'string' ? value : undefined;
}
