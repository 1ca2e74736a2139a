import { isRecord, type Json, lookUp, readList } from './json.ts';

/** The values of one type that satisfy all `parts`, which are schemas without combinations. */
export interface Alternative {
  /** A type of JSON Schema, or `any`. */
  readonly type: string;
  readonly parts: readonly Json[];
}

/**
 * Splits a schema into alternatives: a value is valid if it belongs to one of them. `allOf`, `anyOf`,
 * `oneOf`, references and lists of types disappear, so that different notations of a schema are equal.
 */
export function alternativesOf(schema: unknown, document: Json): Alternative[] {
  return combine(schema, document, []).flatMap(splitByType);
}

/** The ways to satisfy `schema`; each is a list of schemas that apply together. */
function combine(
  schema: unknown,
  document: Json,
  followed: readonly string[],
): (readonly Json[])[] {
  if (schema === false) return [];
  if (!isRecord(schema)) return [[]];
  const { $ref, allOf, anyOf, oneOf, ...own } = schema;
  const read = (part: unknown) => combine(part, document, followed);
  let ways: (readonly Json[])[] = [[own]];
  if (typeof $ref === 'string') {
    // A schema that refers to itself without a field in between adds no values.
    if (followed.includes($ref)) return [];
    ways = both(ways, combine(lookUp(document, $ref), document, [...followed, $ref]));
  }
  for (const part of readList(allOf)) ways = both(ways, read(part));
  for (const choices of [anyOf, oneOf]) {
    if (Array.isArray(choices)) ways = both(ways, choices.flatMap(read));
  }
  return ways;
}

function both<T>(left: (readonly T[])[], right: (readonly T[])[]): (readonly T[])[] {
  return left.flatMap((some) => right.map((others) => [...some, ...others]));
}

function splitByType(parts: readonly Json[]): Alternative[] {
  const lists = parts.flatMap((part) => [typesOf(part)].filter((types) => types !== undefined));
  if (lists.length === 0) return [{ type: 'any', parts: parts.map((part) => select(part, 'any')) }];
  return [...new Set(lists.flat())]
    .filter((type) => lists.every((types) => types.some((other) => isSubtype(type, other))))
    .map((type) => ({ type, parts: parts.map((part) => select(part, type)) }))
    .filter((alternative) => alternative.parts.every(({ enum: values }) => !isEmpty(values)));
}

function typesOf({ type, const: value, enum: values }: Json): string[] | undefined {
  if (type !== undefined) return [type].flat().map(String);
  if (value !== undefined) return [typeOfValue(value)];
  return Array.isArray(values) ? [...new Set(values.map(typeOfValue))] : undefined;
}

/** Whether every value of `type` is also one of `other`. */
export function isSubtype(type: string, other: string): boolean {
  return type === other || other === 'any' || (type === 'integer' && other === 'number');
}

function typeOfValue(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}

/** The keywords that apply to one type only. */
const KEYWORDS: Readonly<Record<string, readonly string[]>> = {
  string: ['minLength', 'maxLength', 'pattern'],
  number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  array: ['items', 'prefixItems', 'contains', 'minItems', 'maxItems', 'uniqueItems'],
  object: ['properties', 'required', 'additionalProperties', 'minProperties', 'maxProperties'],
};
const SPECIAL = new Set(Object.values(KEYWORDS).flat());

/** The keywords of `part` that apply to `type`; a constant becomes an enum of one value. */
function select({ type: _type, const: value, ...part }: Json, type: string): Json {
  const own = KEYWORDS[type === 'integer' ? 'number' : type] ?? [];
  const kept = Object.entries(part).filter(
    ([keyword]) => type === 'any' || own.includes(keyword) || !SPECIAL.has(keyword),
  );
  const values = value === undefined ? part.enum : [value];
  return {
    ...Object.fromEntries(kept),
    ...(Array.isArray(values) && {
      enum: values.filter((each) => isSubtype(typeOfValue(each), type)),
    }),
  };
}

function isEmpty(values: unknown): boolean {
  return Array.isArray(values) && values.length === 0;
}
