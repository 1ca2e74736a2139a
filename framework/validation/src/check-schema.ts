import type { StandardSchema } from '@fw/core/schema';

import { readField } from './text-fields.ts';

/**
 * The first parameter that `schema` requires and a path with the parameters `names` does not contain.
 * Only schemas that provide their JSON Schema (https://standardschema.dev/json-schema) are checked.
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

/**
 * Whether `schema` reads the parameter and reports its absence. The JSON Schema is not enough: for
 * a conversion such as `z.preprocess` it describes the converted value, not the parameters.
 */
function isMissed(schema: StandardSchema, name: string, names: readonly string[]): boolean {
  let isRead = false;
  const params = new Proxy(Object.fromEntries(names.map((present) => [present, '1'])), {
    get(target, key) {
      isRead ||= key === name;
      return Reflect.get(target, key);
    },
    has(target, key) {
      isRead ||= key === name;
      return Reflect.has(target, key);
    },
  });
  const outcome = readField(schema, params, name);
  return isRead && typeof outcome === 'object' && outcome.issues.length > 0;
}
