/** A JSON Schema, draft 2020-12, as OpenAPI 3.1 uses it. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Whether `value` is an object. */
export function isRecord(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Keywords whose value is a schema or a list of schemas. Other keywords contain data. */
const SCHEMAS = new Set([
  ...['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else'],
  ...['items', 'prefixItems', 'contains', 'unevaluatedItems'],
  ...['additionalProperties', 'unevaluatedProperties', 'propertyNames', 'contentSchema'],
]);

/** Keywords whose value is an object of schemas by name. */
const NAMED = new Set([
  'properties',
  'patternProperties',
  'dependentSchemas',
  '$defs',
  'definitions',
]);

/**
 * A copy of `schema` with the result of `map` for each schema in its keywords; `keys` is its path. For
 * what treats all keywords alike: `alternatives.ts` and the serializer read keywords by their meaning.
 */
export function mapSubschemas(
  schema: JsonSchema,
  map: (subschema: JsonSchema, keys: readonly string[]) => unknown,
): JsonSchema {
  const mapValue = (value: unknown, keys: readonly string[]): unknown => {
    if (Array.isArray(value)) return value.map((part, at) => mapValue(part, [...keys, `${at}`]));
    return isRecord(value) ? map(value, keys) : value;
  };
  return mapValues(schema, (value, keyword) => {
    if (SCHEMAS.has(keyword)) return mapValue(value, [keyword]);
    if (!NAMED.has(keyword) || !isRecord(value)) return value;
    return mapValues(value, (part, name) => mapValue(part, [keyword, name]));
  });
}

function mapValues(
  object: JsonSchema,
  map: (value: unknown, key: string) => unknown,
): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value, key)]));
}

/** The keys of a reference such as `#/$defs/User` (RFC 6901 §6); invalid percent-encoding stays as it is. */
export function keysOf(ref: string): string[] {
  const tokens = ref.split('/').slice(1);
  return tokens.map((token) => decodePercent(token).replaceAll('~1', '/').replaceAll('~0', '~'));
}

function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The part of `root` that the reference `ref` names; `undefined` if there is none. */
export function lookUp(root: unknown, ref: string): unknown {
  return keysOf(ref).reduce<unknown>(
    (at, key) =>
      Object(at) === at && Object.hasOwn(at as object, key)
        ? Reflect.get(at as object, key)
        : undefined,
    root,
  );
}
