import { isRecord, type JsonSchema } from './subschemas.ts';

/** The values of one type that satisfy all `parts`, which are schemas without combinations. */
export interface Alternative {
  /** A type of JSON Schema, or `any`. */
  readonly type: string;
  /** Without the keywords that apply to other types; `const` is an `enum` of one value. */
  readonly parts: readonly JsonSchema[];
}

/** The schema that `ref` names; `followed` are the references that led to it without a field in between. */
type Follow = (ref: string, followed: readonly string[]) => unknown;

/** Each list of choices in `allOf` multiplies the number of alternatives. */
const MAX_WAYS = 10_000;

/** What is wrong with a schema that has more alternatives than a program can use. */
export const TOO_MANY = 'it has too many alternatives';

/**
 * Splits a schema into alternatives: a value is valid if it belongs to one of them. `allOf`, `anyOf`,
 * `oneOf`, references and lists of types disappear, so that different notations of a schema are equal.
 *
 * @throws {TypeError} if the schema has more than 10,000 alternatives
 */
export function alternativesOf(schema: unknown, follow: Follow): Alternative[] {
  return waysOf(schema, follow, []).flatMap(splitByType);
}

/** The ways to satisfy `schema`; each is a list of schemas that apply together. */
function waysOf(
  schema: unknown,
  follow: Follow,
  followed: readonly string[],
): (readonly JsonSchema[])[] {
  if (schema === false) return [];
  if (!isRecord(schema)) return [[]];
  const { $ref, allOf, anyOf, oneOf, ...own } = schema;
  if (own.not === true || (isRecord(own.not) && Object.keys(own.not).length === 0)) return [];
  const read = (part: unknown) => waysOf(part, follow, followed);
  const conditions = [
    [[own]],
    ...(typeof $ref === 'string'
      ? [waysOf(follow($ref, followed), follow, [...followed, $ref])]
      : []),
    ...(Array.isArray(allOf) ? allOf.map(read) : []),
    ...[anyOf, oneOf].filter(Array.isArray).map((choices) => choices.flatMap(read)),
  ];
  return conditions.reduce((ways, others) => {
    if (ways.length * others.length > MAX_WAYS) throw new TypeError(TOO_MANY);
    return ways.flatMap((some) => others.map((more) => [...some, ...more]));
  });
}

function splitByType(parts: readonly JsonSchema[]): Alternative[] {
  const lists = parts.flatMap((part) => [typesOf(part)].filter((types) => types !== undefined));
  if (lists.length === 0) return [{ type: 'any', parts: parts.map((part) => select(part, 'any')) }];
  return [...new Set(lists.flat())]
    .filter((type) => lists.every((types) => types.some((other) => isSubtype(type, other))))
    .map((type) => ({ type, parts: parts.map((part) => select(part, type)) }))
    .filter((alternative) => alternative.parts.every(({ enum: values }) => !isEmpty(values)));
}

function typesOf({ type, const: value, enum: values }: JsonSchema): string[] | undefined {
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
  string: [
    ...['minLength', 'maxLength', 'pattern', 'format'],
    ...['contentEncoding', 'contentMediaType', 'contentSchema'],
  ],
  number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'format'],
  array: ['items', 'prefixItems', 'contains', 'minItems', 'maxItems', 'uniqueItems'],
  object: [
    ...['properties', 'required', 'additionalProperties', 'minProperties', 'maxProperties'],
    ...['patternProperties', 'propertyNames', 'dependentRequired', 'dependentSchemas'],
  ],
};
const SPECIAL = new Set(Object.values(KEYWORDS).flat());

function select({ type: _type, const: value, ...part }: JsonSchema, type: string): JsonSchema {
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
