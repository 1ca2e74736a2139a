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

/** Writes and reads the places in one list at which its pages begin. */
export interface Cursor<Fields extends readonly FieldType[]> {
  /** The text that a client brings back for the page after this place. */
  encode(...place: Values<Fields>): string;
  /** @throws {BadRequestError} if `encode` of the same list did not make `text` */
  decode(text: string): Values<Fields>;
}

/**
 * Creates the cursors of one list. A cursor fits no other list: `list` names everything that decides
 * on the order and the choice of the entries.
 *
 * ```ts
 * const cursor = createCursor(`items sort=${sort} brand=${brand}`, 'string', 'integer');
 * ```
 */
export function createCursor<const Fields extends readonly FieldType[]>(
  list: string,
  ...fields: Fields
): Cursor<Fields> {
  // Tells a typing error from a cursor; it keeps no secret, for a place in a public list is none.
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
      // Base64 has several spellings of the same octets; only the one that was given out counts.
      const isOurs = text === seal(place) + Buffer.from(place).toString('base64url');
      const values = isOurs ? parse(place) : undefined;
      if (!isPlace(values)) {
        throw new BadRequestError('cursor must be one that this list gave out');
      }
      return values;
    },
  };
}

/** What any store can compare with: PostgreSQL has no text with NUL and no integer `1.5`. */
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
