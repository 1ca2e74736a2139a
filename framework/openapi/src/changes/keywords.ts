import type { Alternative } from '@fw/core/schema';

import { isSame } from './json.ts';

/** Whether a schema with the keyword value `narrow` accepts only values that `wide` accepts. */
type Implies = (narrow: unknown, wide: unknown) => boolean;

const atLeast: Implies = (narrow, wide) => Number(narrow) >= Number(wide);
const atMost: Implies = (narrow, wide) => Number(narrow) <= Number(wide);
const above: Implies = (narrow, wide) => Number(narrow) > Number(wide);
const below: Implies = (narrow, wide) => Number(narrow) < Number(wide);
const atLeastSize: Implies = (narrow = 0, wide) => atLeast(narrow, wide);

const WIDER_FORMATS = new Map<unknown, unknown>([
  ['int32', 'int64'],
  ['float', 'double'],
]);

/** Of two different values of these keywords, it is unknown which is narrower. */
const OPAQUE = [
  ...['pattern', 'not', 'if', 'then', 'else', 'contentEncoding', 'contentMediaType'],
  ...['prefixItems', 'contains', 'minContains', 'maxContains', 'unevaluatedItems'],
  ...['patternProperties', 'propertyNames', 'dependentRequired', 'dependentSchemas'],
  'unevaluatedProperties',
];

/** The keywords that restrict values, and the keywords of a narrower schema that imply each. */
const RULES: ReadonlyMap<string, Readonly<Record<string, Implies>>> = new Map(
  Object.entries({
    minimum: { minimum: atLeast, exclusiveMinimum: atLeast },
    exclusiveMinimum: { exclusiveMinimum: atLeast, minimum: above },
    maximum: { maximum: atMost, exclusiveMaximum: atMost },
    exclusiveMaximum: { exclusiveMaximum: atMost, maximum: below },
    multipleOf: { multipleOf: (narrow, wide) => Number(narrow) % Number(wide) === 0 },
    minLength: { minLength: atLeastSize },
    maxLength: { maxLength: atMost },
    minItems: { minItems: atLeastSize },
    maxItems: { maxItems: atMost },
    minProperties: { minProperties: atLeastSize },
    maxProperties: { maxProperties: atMost },
    uniqueItems: { uniqueItems: (narrow, wide) => narrow === true || wide === false },
    enum: { enum: (narrow, wide) => Array.isArray(narrow) && narrow.every(isOneOf(wide)) },
    format: { format: (narrow, wide) => narrow === wide || WIDER_FORMATS.get(narrow) === wide },
    ...Object.fromEntries(OPAQUE.map((keyword) => [keyword, { [keyword]: isSame }])),
  } satisfies Record<string, Record<string, Implies>>),
);

/** A restriction of the wider schema that the narrower one lacks. */
export interface Violation {
  readonly keyword: string;
  readonly narrow: unknown;
  readonly wide: unknown;
}

/** The keywords because of which some values of `narrow` are not values of `wide`. */
export function findViolations(narrow: Alternative, wide: Alternative): Violation[] {
  return wide.parts.flatMap((part) =>
    Object.entries(part)
      .filter(([keyword, value]) => !isImplied(narrow, RULES.get(keyword), value))
      .map(([keyword, value]) => ({
        keyword,
        narrow: valuesOf(narrow, keyword).at(-1),
        wide: value,
      })),
  );
}

function isImplied(
  narrow: Alternative,
  implied: Readonly<Record<string, Implies>> | undefined,
  wide: unknown,
): boolean {
  if (!implied) return true; // a description, or a keyword that contains schemas
  return Object.entries(implied).some(([keyword, implies]) => {
    const values = valuesOf(narrow, keyword);
    return (values.length > 0 ? values : [undefined]).some((value) => implies(value, wide));
  });
}

/** The values of `keyword` in all parts of an alternative. */
export function valuesOf({ parts }: Alternative, keyword: string): unknown[] {
  return parts.map((part) => part[keyword]).filter((value) => value !== undefined);
}

/** Whether a value is in `values`. */
export function isOneOf(values: unknown): (value: unknown) => boolean {
  return (value) => Array.isArray(values) && values.some((each) => isSame(each, value));
}
