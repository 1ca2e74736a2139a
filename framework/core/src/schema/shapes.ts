import { isJsonSchema, type JsonSchema } from './json-schema.ts';

/** A JSON Schema, or `true` for any value. */
export type Schema = JsonSchema | boolean;

export type LeafType = 'string' | 'number' | 'integer' | 'boolean' | 'null';

/** One alternative of a schema, without `$ref`, `allOf`, `anyOf` and `oneOf`. */
export type Shape = AnyShape | LeafShape | ObjectShape | ArrayShape;

/** Any value, as it is. */
interface AnyShape {
  readonly kind: 'any';
}

interface LeafShape {
  readonly kind: 'leaf';
  readonly type: LeafType;
  /** The values of `const` or `enum`. */
  readonly values: readonly unknown[] | undefined;
}

export interface ObjectShape {
  readonly kind: 'object';
  readonly properties: ReadonlyMap<string, Schema>;
  readonly required: ReadonlySet<string>;
  /** The schema of other fields; `undefined` if there are none. */
  readonly others: Schema | undefined;
  /** The schemas of other fields by a regular expression of their names. */
  readonly patterns: readonly (readonly [pattern: string, schema: Schema])[];
}

export interface ArrayShape {
  readonly kind: 'array';
  readonly first: readonly Schema[];
  /** The schema of the items after `first`; `undefined` if there are none. */
  readonly rest: Schema | undefined;
}

const ANY: AnyShape = { kind: 'any' };
const LEAVES: readonly string[] = ['string', 'number', 'integer', 'boolean', 'null'];
const MAX_DEPTH = 50;
const MAX_SHAPES = 200;

/**
 * The alternatives of `schema`, in order.
 *
 * @throws {TypeError} if a `$ref` names no part of `root`, or the schema has too many alternatives
 */
export function shapesOf(schema: Schema, root: JsonSchema, depth = 0): readonly Shape[] {
  if (!isJsonSchema(schema)) return [ANY];
  if (depth > MAX_DEPTH) throw new TypeError('it refers to itself without a field in between');
  const { $ref, allOf, anyOf, oneOf, ...own } = schema;
  const shapesIn = (part: unknown) => shapesOf(toSchema(part), root, depth + 1);
  const parts = [
    ownShapes(own),
    ...(typeof $ref === 'string' ? [shapesIn(resolve($ref, root))] : []),
    ...listOf(allOf).map(shapesIn),
    ...[anyOf, oneOf].flatMap((list) =>
      Array.isArray(list) ? [list.flatMap((part) => shapesIn(part))] : [],
    ),
  ];
  const shapes = parts.reduce((before, after) =>
    before.flatMap((one) => after.flatMap((other) => combine(one, other))),
  );
  if (shapes.length > MAX_SHAPES) throw new TypeError('it has too many alternatives');
  return shapes;
}

/** The shape of an object with the fields of all `shapes`, none of them required. */
export function unionOf(shapes: readonly ObjectShape[]): ObjectShape {
  const properties = new Map<string, Schema>();
  for (const shape of shapes) {
    for (const [name, schema] of shape.properties) {
      const present = properties.get(name);
      properties.set(name, present === undefined ? schema : join('anyOf', [present, schema]));
    }
  }
  const others = shapes.flatMap((shape) => (shape.others === undefined ? [] : [shape.others]));
  return {
    kind: 'object',
    properties,
    required: new Set(),
    others: others.length > 0 ? join('anyOf', others) : undefined,
    patterns: shapes.flatMap((shape) => shape.patterns),
  };
}

/**
 * Combines schemas without nested and repeated parts: of a recursive schema, the combinations of its
 * parts are finite.
 */
export function join(keyword: 'anyOf' | 'allOf', schemas: readonly Schema[]): Schema {
  const parts = schemas.flatMap((schema) => {
    const { [keyword]: list, ...rest } = isJsonSchema(schema) ? schema : {};
    return Array.isArray(list) && Object.keys(rest).length === 0 ? list.map(toSchema) : [schema];
  });
  const [first, ...others] = new Map(parts.map((part) => [JSON.stringify(part), part])).values();
  return first !== undefined && others.length === 0 ? first : { [keyword]: [first, ...others] };
}

/** The shapes of a schema by its own keywords. */
function ownShapes(schema: JsonSchema): readonly Shape[] {
  const { type, const: only, enum: list, not } = schema;
  if (isJsonSchema(not) && Object.keys(not).length === 0) return []; // accepts nothing
  const values = 'const' in schema ? [only] : Array.isArray(list) ? list : undefined;
  const types = type === undefined ? impliedTypes(schema, values) : [type].flat();
  if (types.length === 0) return [ANY];
  return types.flatMap((each): Shape[] => {
    if (each === 'object') return [objectShape(schema)];
    if (each === 'array') return [arrayShape(schema)];
    return LEAVES.includes(String(each)) ? [{ kind: 'leaf', type: each as LeafType, values }] : [];
  });
}

function impliedTypes(schema: JsonSchema, values: readonly unknown[] | undefined): string[] {
  if (values) {
    return [...new Set(values.map((value) => (value === null ? 'null' : typeof value)))];
  }
  if (OBJECT_KEYWORDS.some((key) => key in schema)) return ['object'];
  return 'items' in schema || 'prefixItems' in schema ? ['array'] : [];
}

const OBJECT_KEYWORDS = ['properties', 'required', 'additionalProperties', 'patternProperties'];

function objectShape(schema: JsonSchema): ObjectShape {
  const { properties, required, patternProperties } = schema;
  const others = schema.additionalProperties ?? schema.unevaluatedProperties ?? false;
  return {
    kind: 'object',
    properties: new Map(entriesOf(properties)),
    required: new Set(listOf(required).map(String)),
    others: others === false ? undefined : toSchema(others),
    patterns: entriesOf(patternProperties),
  };
}

function arrayShape({ prefixItems, items = prefixItems === undefined }: JsonSchema): ArrayShape {
  const rest = items === false ? undefined : toSchema(items);
  return { kind: 'array', first: listOf(prefixItems).map(toSchema), rest };
}

/** The shape of values that have both shapes; none if there are no such values. */
function combine(one: Shape, other: Shape): readonly Shape[] {
  if (one.kind === 'any') return [other];
  if (other.kind === 'any') return [one];
  if (one.kind === 'object' && other.kind === 'object') {
    const union = unionOf([one, other]);
    const both = [...one.properties].map(([name, schema]): [string, Schema] => {
      const second = other.properties.get(name);
      return [name, second === undefined ? schema : join('allOf', [schema, second])];
    });
    const properties = new Map([...union.properties, ...both]);
    return [{ ...union, properties, required: new Set([...one.required, ...other.required]) }];
  }
  if (one.kind === 'leaf' && other.kind === 'leaf') {
    if (one.type === other.type) return [{ ...one, values: one.values ?? other.values }];
    const isInteger = one.type === 'integer' && other.type === 'number';
    const isNumber = one.type === 'number' && other.type === 'integer';
    return isInteger ? [one] : isNumber ? [other] : [];
  }
  return one.kind === other.kind ? [one] : [];
}

/** The part of `root` that a reference such as `#/$defs/User` names (RFC 6901 §6). */
function resolve(ref: string, root: JsonSchema): unknown {
  if (!/^#(?:\/|$)/.test(ref)) throw new TypeError(`it refers to "${ref}", outside of itself`);
  const tokens = ref.split('/').slice(1);
  const found = tokens.reduce<unknown>((at, token) => {
    const key = decodeURIComponent(token).replaceAll('~1', '/').replaceAll('~0', '~');
    return Object(at) === at && Object.hasOwn(at as object, key)
      ? Reflect.get(at as object, key)
      : undefined;
  }, root);
  if (found === undefined) throw new TypeError(`it refers to "${ref}", which does not exist`);
  return found;
}

function toSchema(value: unknown): Schema {
  return isJsonSchema(value) ? value : true;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function entriesOf(value: unknown): [string, Schema][] {
  if (!isJsonSchema(value)) return [];
  const allowed = Object.entries(value).filter(([, schema]) => schema !== false);
  return allowed.map(([name, schema]) => [name, toSchema(schema)]);
}
