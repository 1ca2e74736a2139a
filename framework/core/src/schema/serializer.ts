import { serializerSource } from './serializer-source.ts';
import { stringify } from './stringify.ts';
import { type JsonSchema, mapSubschemas } from './subschemas.ts';
import { Trace, type Violation } from './trace.ts';

export type { Violation } from './trace.ts';

/**
 * Returns the JSON of the declared fields of `value`; `undefined` if it has no JSON form. Calls
 * `onViolation` before, if `value` does not fit the schema: required fields are missing, or a part has
 * another type.
 */
export type Serializer = (
  value: unknown,
  onViolation: (violation: Violation) => void,
) => string | undefined;

/**
 * Compiles a JSON Schema. An object without `additionalProperties` has no other fields; a part without
 * a type may be any value.
 *
 * @throws {TypeError} if the schema refers to a part that does not exist, or it is not known which fields a
 *   keyword describes
 */
export function createSerializer(schema: JsonSchema): Serializer {
  mapSubschemas(schema, rejectResources);
  const { source, constants } = serializerSource(schema);
  // The names and values of the schema are in the source as JSON only.
  const build = new Function('c', source) as (constants: readonly unknown[]) => Copy;
  const copy = build(constants);
  return (value, onViolation) => {
    const trace = new Trace();
    const declared = copy(value, trace, 0);
    if (trace.violation) onViolation(trace.violation);
    return stringify(declared);
  };
}

/** @throws {TypeError} if a reference is relative to the `$id` of a part, not to the complete schema */
function rejectResources(part: JsonSchema): JsonSchema {
  if (typeof part.$id === 'string' && hasReference(part)) {
    throw new TypeError('it has "$ref" in a part with an "$id" of its own');
  }
  return mapSubschemas(part, rejectResources);
}

function hasReference(part: JsonSchema): boolean {
  let found = '$ref' in part;
  mapSubschemas(part, (inner) => {
    found ||= hasReference(inner);
  });
  return found;
}

/** Copies the declared fields of `value` and records the first violation in `trace`. */
type Copy = (value: unknown, trace: Trace, depth: number) => unknown;
