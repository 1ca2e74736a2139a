import type { Item } from '../item.ts';

/** The fields of an item in a file, by the names that they have there. */
export const FIELDS = [
  'id',
  'name',
  'category',
  'brand',
  'price_cents',
  'currency',
  'description',
  'tags',
] as const;

export type Field = (typeof FIELDS)[number];

/** Returns the value of a field as the file contains it. */
export type ReadField = (name: Field) => unknown;

const MAX_NAME_LENGTH = 200;
const MAX_DESCRIPTION_LENGTH = 4_000;
const MAX_TAGS = 50;

/** A line contains no valid item. The message is the reason, without content of the line. */
export class RejectedLineError extends Error {}

/**
 * Reads an item from its fields.
 *
 * @throws {RejectedLineError} naming the first invalid field
 */
export function readItem(read: ReadField): Item {
  return {
    id: readInteger(read, 'id', 1),
    name: readText(read, 'name', MAX_NAME_LENGTH),
    category: readText(read, 'category', MAX_NAME_LENGTH),
    brand: readText(read, 'brand', MAX_NAME_LENGTH),
    priceCents: readInteger(read, 'price_cents', 0),
    currency: readCurrency(read),
    description: readText(read, 'description', MAX_DESCRIPTION_LENGTH),
    tags: readTags(read),
  };
}

function invalid(name: Field, expected: string): RejectedLineError {
  return new RejectedLineError(`${name} must be ${expected}`);
}

function readInteger(read: ReadField, name: Field, least: number): number {
  const value = read(name);
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= least) return value;
  throw invalid(name, `an integer of at least ${least}`);
}

function readText(read: ReadField, name: Field, maxLength: number): string {
  const value = read(name);
  if (isText(value, maxLength)) return value;
  throw invalid(name, `a text of at most ${maxLength} characters`);
}

function readCurrency(read: ReadField): string {
  const value = read('currency');
  if (typeof value === 'string' && /^[A-Z]{3}$/.test(value)) return value;
  throw invalid('currency', 'three capital letters');
}

function readTags(read: ReadField): readonly string[] {
  const value = read('tags');
  const isTags = (tags: unknown): tags is readonly string[] =>
    Array.isArray(tags) &&
    tags.length <= MAX_TAGS &&
    tags.every((tag) => isText(tag, MAX_NAME_LENGTH));
  if (isTags(value)) return value;
  throw invalid('tags', `a list of at most ${MAX_TAGS} texts`);
}

/** Stores cannot contain NUL, and a lone surrogate is not a character. */
function isText(value: unknown, maxLength: number): value is string {
  return (
    typeof value === 'string' &&
    value !== '' &&
    value.length <= maxLength &&
    !value.includes('\0') &&
    value.isWellFormed()
  );
}
