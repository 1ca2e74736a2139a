import { BadRequestError } from 'fw';

import type { NewUser, UserChanges } from './user.ts';

/**
 * Reads the body of a POST.
 *
 * @throws {BadRequestError} if `name` or `email` is missing, empty or no text
 */
export function readNewUser(body: unknown): NewUser {
  return { name: readRequired(body, 'name'), email: readRequired(body, 'email') };
}

function readRequired(body: unknown, name: string): string {
  const value = readText(body, name);
  if (!value) throw new BadRequestError('name and email are required');
  return value;
}

/**
 * Reads the body of a PUT; what it does not know in there, it leaves out.
 *
 * @throws {BadRequestError} if a field that is there is no text
 */
export function readUserChanges(body: unknown): UserChanges {
  if (body !== undefined && !isObject(body)) {
    throw new BadRequestError('the body must be a JSON object');
  }
  const name = readText(body, 'name');
  const email = readText(body, 'email');
  return { ...(name !== undefined && { name }), ...(email !== undefined && { email }) };
}

function readText(body: unknown, name: string): string | undefined {
  const value = field(body, name);
  if (value === undefined || typeof value === 'string') return value;
  throw new BadRequestError(`${name} must be a string`);
}

/** The body's own field `name`: nothing that a prototype holds. */
function field(body: unknown, name: string): unknown {
  return isObject(body) && Object.hasOwn(body, name) ? Reflect.get(body, name) : undefined;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
