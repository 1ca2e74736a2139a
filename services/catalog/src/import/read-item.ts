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

/** A field's value as a file gives it: numbers and lists may also be texts in a CSV file. */
export type ReadField = (name: Field) => unknown;

const MAX_NAME_LENGTH = 200;
const MAX_DESCRIPTION_LENGTH = 4_000;
const MAX_TAGS = 50;

/** A line holds no item; the message is why, without what stands in it. */
export class RefusedLineError extends Error {}

/**
 * Reads an item from its fields.
 *
 * @throws {RefusedLineError} naming the field that is not as it should be
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

function refuse(name: Field, expected: string): RefusedLineError {
  return new RefusedLineError(`${name} must be ${expected}`);
}

function readInteger(read: ReadField, name: Field, least: number): number {
  const value = read(name);
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= least) return value;
  throw refuse(name, `an integer of at least ${least}`);
}

function readText(read: ReadField, name: Field, maxLength: number): string {
  const value = read(name);
  if (isText(value, maxLength)) return value;
  throw refuse(name, `a text of at most ${maxLength} characters`);
}

function readCurrency(read: ReadField): string {
  const value = read('currency');
  if (typeof value === 'string' && /^[A-Z]{3}$/.test(value)) return value;
  throw refuse('currency', 'three capital letters');
}

function readTags(read: ReadField): readonly string[] {
  const value = read('tags');
  const isTags = (tags: unknown): tags is readonly string[] =>
    Array.isArray(tags) &&
    tags.length <= MAX_TAGS &&
    tags.every((tag) => isText(tag, MAX_NAME_LENGTH));
  if (isTags(value)) return value;
  throw refuse('tags', `a list of at most ${MAX_TAGS} texts`);
}

/** No store keeps a NUL, and a lone surrogate is no character. */
function isText(value: unknown, maxLength: number): value is string {
  return (
    typeof value === 'string' &&
    value !== '' &&
    value.length <= maxLength &&
    !value.includes('\0') &&
    value.isWellFormed()
  );
}
