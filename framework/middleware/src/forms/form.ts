import { BadRequestError, PayloadTooLargeError } from '@fw/errors';

/** The value of a form field: a string or a file, or an array if the name is repeated. */
export type FormValue = string | File | (string | File)[] | undefined;

/** The fields of a form by name: an object without a prototype. */
export type Form = Record<string, FormValue>;

/** The limits of both encodings. */
export interface FieldLimits {
  /** Maximum size of all fields in bytes. */
  readonly limit: number;
  readonly maxFields: number;
}

/** Adds a value to those that the name already has. */
export function addValue(form: Form, name: string, value: string | File): void {
  requireSafeName(name);
  const present = form[name];
  if (present === undefined) form[name] = value;
  else if (Array.isArray(present)) present.push(value);
  else form[name] = [present, value];
}

/** @throws {BadRequestError} for a name that changes the prototype of an object to which it is copied */
export function requireSafeName(name: string): void {
  if (name !== '__proto__') return;
  throw new BadRequestError('The form must not have the field "__proto__"');
}

/** The error for a form with more than `limit` of `what`. */
export function tooMany(what: string, limit: number): PayloadTooLargeError {
  return new PayloadTooLargeError(`The number of ${what} must not exceed ${limit}`);
}
