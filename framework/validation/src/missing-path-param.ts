import type { StandardSchema } from '@fw/core/schema';

import { readField } from './schema-fields.ts';

/**
 * The first parameter that `schema` requires and a path with the parameters `names` does not contain.
 * Its JSON Schema (https://standardschema.dev/json-schema) requires it, and the schema reads it and
 * reports an issue for it when it validates the parameters of the path.
 */
export function missingPathParam(
  schema: StandardSchema,
  names: readonly string[],
): string | undefined {
  return requiredOf(schema).find((name) => !names.includes(name) && isMissed(schema, name, names));
}

function requiredOf(schema: StandardSchema): readonly string[] {
  try {
    const described = schema['~standard'].jsonSchema?.input({ target: 'draft-2020-12' });
    const required: unknown = Reflect.get(Object(described), 'required');
    return Array.isArray(required) ? required.map(String) : [];
  } catch {
    return []; // the schema has a type that JSON does not have
  }
}

/** The JSON Schema is not enough: that of `z.preprocess` describes the parameters after the conversion. */
function isMissed(schema: StandardSchema, name: string, names: readonly string[]): boolean {
  let isRead = false;
  const params = Object.fromEntries(names.map((present) => [present, '1']));
  Object.defineProperty(params, name, {
    get() {
      isRead = true;
      return undefined;
    },
  });
  const outcome = readField(schema, params, name);
  return isRead && typeof outcome === 'object' && outcome.issues.length > 0;
}
