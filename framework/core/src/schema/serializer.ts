import { MAX_DEPTH, serializerSource, withArticle } from './serializer-source.ts';
import { opaqueTypeOf, pointerOf, stringify } from './stringify.ts';
import { type JsonSchema, mapSubschemas } from './subschemas.ts';

/** Where and how a value differs from its schema. */
export interface Violation {
  /** A JSON Pointer (RFC 6901). */
  readonly pointer: string;
  readonly problem: string;
}

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

/** What the generated code of a serializer knows about one value. */
class Trace {
  /** The keys on the way to the current part; those from the current depth on are out of date. */
  readonly path: (string | number)[] = [];
  /** The first violation. */
  violation: Violation | undefined = undefined;

  /** Records a violation of the part at `depth`, or of its field `key`. */
  fail(problem: string, depth: number, key?: string): void {
    if (this.violation) return;
    const keys = [...this.path.slice(0, depth), ...(key === undefined ? [] : [key])];
    this.violation = { pointer: pointerOf(keys), problem };
  }

  /** The part to send of a value with another type: an object may contain undeclared fields. */
  mismatch(value: unknown, expected: string, depth: number): unknown {
    this.fail(
      value === undefined ? 'is missing' : `is ${typeOf(value)}, expected ${expected}`,
      depth,
    );
    return typeof value === 'object' && value !== null ? undefined : value;
  }

  /** Whether `value`, which should be an object with fields, is a Map or another object without. */
  isOpaque(value: object): boolean {
    return opaqueTypeOf(value) !== undefined;
  }

  /** @throws {TypeError} as `JSON.stringify` does for an object that contains itself */
  rejectDepth(): never {
    throw new TypeError(`Cannot send a value that is nested more than ${MAX_DEPTH} levels deep`);
  }

  /** Sets a field whose name the value determines; `__proto__` is a name like any other. */
  set(target: object, key: string, value: unknown): void {
    if (key !== '__proto__') Reflect.set(target, key, value);
    else Object.defineProperty(target, key, { value, enumerable: true });
  }

  /** `value`, or the result of its `toJSON()`, as `JSON.stringify` calls it. */
  jsonOf(value: object, depth: number): unknown {
    const { toJSON } = value as { readonly toJSON?: unknown };
    return typeof toJSON === 'function'
      ? Reflect.apply(toJSON, value, [depth === 0 ? '' : String(this.path[depth - 1])])
      : value;
  }
}

/** The JSON type of a value; `NaN` and infinite numbers have none. */
function typeOf(value: unknown): string {
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
  if (value === null) return 'null';
  const opaque = typeof value === 'object' ? opaqueTypeOf(value) : undefined;
  if (opaque) return `of the type ${opaque.name} (${opaque.remedy})`;
  return withArticle(Array.isArray(value) ? 'array' : typeof value);
}
