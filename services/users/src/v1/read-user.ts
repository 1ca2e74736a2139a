import { hasAtMost } from '@fw/service';
import { BadRequestError } from 'fw';

import { MAX_EMAIL_LENGTH, MAX_NAME_LENGTH, type NewUser, type UserChanges } from '../user.ts';

/**
 * Reads the body of a POST.
 *
 * @throws {BadRequestError} if `name` or `email` is missing, empty, too long or not a string
 */
export function readNewUser(body: unknown): NewUser {
  const newUser = { name: readRequired(body, 'name'), email: readRequired(body, 'email') };
  checkLengths(newUser);
  return newUser;
}

function readRequired(body: unknown, name: string): string {
  const value = readText(body, name);
  if (!value) throw new BadRequestError('name and email are required');
  return value;
}

/**
 * Reads the body of a PUT; ignores unknown fields.
 *
 * @throws {BadRequestError} if a field is not a string, or `name` is empty, or one of them is too long
 */
export function readUserChanges(body: unknown): UserChanges {
  if (body !== undefined && !isObject(body)) {
    throw new BadRequestError('the body must be a JSON object');
  }
  const name = readText(body, 'name');
  const email = readText(body, 'email');
  const changes = { ...(name !== undefined && { name }), ...(email !== undefined && { email }) };
  checkLengths(changes);
  return changes;
}

function checkLengths({ name, email }: UserChanges): void {
  if (name !== undefined && (name === '' || !hasAtMost(name, MAX_NAME_LENGTH))) {
    throw new BadRequestError(`name must be 1 to ${MAX_NAME_LENGTH} characters long`);
  }
  if (email !== undefined && !hasAtMost(email, MAX_EMAIL_LENGTH)) {
    throw new BadRequestError(`email must be at most ${MAX_EMAIL_LENGTH} characters long`);
  }
}

function readText(body: unknown, name: string): string | undefined {
  const value = field(body, name);
  if (value === undefined || typeof value === 'string') return value;
  throw new BadRequestError(`${name} must be a string`);
}

/** The own property `name` of the body, never an inherited one. */
function field(body: unknown, name: string): unknown {
  return isObject(body) && Object.hasOwn(body, name) ? Reflect.get(body, name) : undefined;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
