import { isSame } from './json.ts';
import type { Alternative } from './schema-alternatives.ts';

/** Whether a schema with the keyword value `narrow` accepts only values that `wide` accepts. */
type Implies = (narrow: unknown, wide: unknown) => boolean;

const atLeast: Implies = (narrow, wide) => Number(narrow) >= Number(wide);
const atMost: Implies = (narrow, wide) => Number(narrow) <= Number(wide);
const above: Implies = (narrow, wide) => Number(narrow) > Number(wide);
const below: Implies = (narrow, wide) => Number(narrow) < Number(wide);
const atLeastSize: Implies = (narrow = 0, wide) => atLeast(narrow, wide);

const WIDER_FORMATS: Readonly<Record<string, string>> = { int32: 'int64', float: 'double' };

/** The keywords that restrict values, and the keywords of a narrower schema that imply each. */
const RULES: Readonly<Record<string, Readonly<Record<string, Implies>>>> = {
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
  format: { format: (narrow, wide) => narrow === wide || WIDER_FORMATS[String(narrow)] === wide },
  // Which of two different values is narrower is unknown.
  ...Object.fromEntries(
    [
      ...['pattern', 'not', 'if', 'then', 'else', 'contentEncoding', 'contentMediaType'],
      ...['prefixItems', 'contains', 'minContains', 'maxContains', 'unevaluatedItems'],
      ...['patternProperties', 'propertyNames', 'dependentRequired', 'dependentSchemas'],
      'unevaluatedProperties',
    ].map((keyword) => [keyword, { [keyword]: isSame }]),
  ),
};

/** A restriction of the wider schema that the narrower one lacks. */
export interface Violation {
  readonly keyword: string;
  readonly narrow: unknown;
  readonly wide: unknown;
}

/** The keywords because of which some values of `narrow` are not values of `wide`. */
export function findViolations(narrow: Alternative, wide: Alternative): Violation[] {
  return Object.entries(RULES).flatMap(([keyword, implied]) =>
    valuesOf(wide, keyword)
      .filter((value) => !isImplied(narrow, implied, value))
      .map((value) => ({ keyword, narrow: valuesOf(narrow, keyword).at(-1), wide: value })),
  );
}

function isImplied(
  narrow: Alternative,
  implied: Readonly<Record<string, Implies>>,
  wide: unknown,
): boolean {
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
