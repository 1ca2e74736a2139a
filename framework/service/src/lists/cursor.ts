import { hash } from 'node:crypto';

import { BadRequestError } from 'fw';

interface FieldValues {
  readonly integer: number;
  readonly string: string;
}
type FieldType = keyof FieldValues;
type Values<Fields extends readonly FieldType[]> = {
  readonly [Index in keyof Fields]: FieldValues[Fields[Index]];
};

/** Encodes and decodes the positions in a list at which pages begin. */
export interface Cursor<Fields extends readonly FieldType[]> {
  /** The text that a client sends to get the page after this position. */
  encode(...place: Values<Fields>): string;
  /** @throws {BadRequestError} if `text` was not encoded for the same list */
  decode(text: string): Values<Fields>;
}

/**
 * Creates the cursor of one list. `list` must contain everything that determines the entries and their
 * order, so that a cursor of another list is rejected.
 *
 * ```ts
 * const cursor = createCursor(`items ${toSearchParams({ sort, brand })}`, 'string', 'integer');
 * ```
 */
export function createCursor<const Fields extends readonly FieldType[]>(
  list: string,
  ...fields: Fields
): Cursor<Fields> {
  // A checksum, not a secret: it detects cursors of other lists and typing errors.
  const seal = (place: string) => hash('sha256', `${list}\0${place}`, 'base64url').slice(0, 8);
  const isPlace = (value: unknown): value is Values<Fields> =>
    Array.isArray(value) &&
    value.length === fields.length &&
    value.every((field, index) => isField[fields[index] ?? 'string'](field));

  return {
    encode(...place) {
      const text = JSON.stringify(place);
      return seal(text) + Buffer.from(text).toString('base64url');
    },
    decode(text) {
      const place = Buffer.from(text.slice(8), 'base64url').toString();
      // Base64 has several spellings of the same bytes; only the canonical one is valid.
      const isOurs = text === seal(place) + Buffer.from(place).toString('base64url');
      const values = isOurs ? parse(place) : undefined;
      if (!isPlace(values)) {
        throw new BadRequestError('cursor must be one that this list returned');
      }
      return values;
    },
  };
}

/**
 * The present parameters of a query in their order, as text of a URL: identifies a list to `createCursor`, and
 * is the query of a link.
 */
export function toSearchParams(query: object): URLSearchParams {
  const present = Object.entries(query).filter(([, value]) => value !== undefined);
  return new URLSearchParams(present.map(([name, value]) => [name, String(value)]));
}

/** The values that every store can compare: PostgreSQL has no text with NUL and no integer `1.5`. */
const isField: Readonly<Record<FieldType, (value: unknown) => boolean>> = {
  integer: Number.isSafeInteger,
  string: (value) => typeof value === 'string' && !value.includes('\0') && value.isWellFormed(),
};

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
