import { type Alternative, alternativesOf } from './alternatives.ts';
import { isRecord, type JsonSchema, lookUp } from './subschemas.ts';

/** A property of an object schema. */
export interface Property {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly required: boolean;
}

/** The properties of an object schema. */
export interface Properties {
  readonly named: readonly Property[];
  /** Whether the schema describes properties without their names, such as those of a record. */
  readonly hasUnnamed: boolean;
}

/**
 * The properties of `schema` in all its alternatives, each once. It is required if it is in each alternative.
 * `resolve` returns the part that a reference names.
 *
 * @throws {TypeError} if the schema has more than 10,000 alternatives
 */
export function propertiesOf(
  schema: JsonSchema,
  resolve: (ref: string) => unknown = (ref) => lookUp(schema, ref),
): Properties {
  const alternatives = alternativesOf(
    schema,
    (ref, followed) => followed.includes(ref) || resolve(ref),
  );
  const objects = alternatives
    .filter(({ type }) => type === 'object' || type === 'any')
    .map(fieldsOf);
  const names = new Set(objects.flatMap(({ schemas }) => [...schemas.keys()]));
  return {
    named: [...names].map((name) => ({
      name,
      schema: anyOf(
        objects.flatMap(({ schemas }) => (schemas.has(name) ? [schemas.get(name)!] : [])),
      ),
      required: objects.every(({ required }) => required.has(name)),
    })),
    hasUnnamed: objects.some(({ hasUnnamed }) => hasUnnamed),
  };
}

function fieldsOf({ parts }: Alternative) {
  const schemas = new Map<string, JsonSchema>();
  let hasUnnamed = false;
  for (const {
    properties,
    patternProperties,
    propertyNames,
    additionalProperties: others,
  } of parts) {
    const names =
      isRecord(propertyNames) && Array.isArray(propertyNames.enum) ? propertyNames.enum : [];
    const listed = names.map((name): [string, unknown] => [String(name), others]);
    for (const [name, schema] of [...Object.entries<unknown>(Object(properties)), ...listed]) {
      const isAllowed = schema !== false && !(isRecord(schema) && isEmpty(schema.not));
      if (isAllowed && !schemas.has(name)) schemas.set(name, isRecord(schema) ? schema : {});
    }
    const isRecordOf = isRecord(others) && (!isEmpty(others) || properties === undefined);
    hasUnnamed ||= !isEmpty(patternProperties ?? {}) || (isRecordOf && names.length === 0);
  }
  const required = new Set(
    parts.flatMap(({ required: names }) => (Array.isArray(names) ? names : [])),
  );
  return { schemas, required, hasUnnamed };
}

function isEmpty(value: unknown): boolean {
  return isRecord(value) && Object.keys(value).length === 0;
}

function anyOf(schemas: readonly JsonSchema[]): JsonSchema {
  const [first = {}, ...others] = new Map(
    schemas.map((schema) => [JSON.stringify(schema), schema]),
  ).values();
  return others.length === 0 ? first : { anyOf: [first, ...others] };
}
