import { type Alternative, alternativesOf, TOO_MANY } from './alternatives.ts';
import { isRecord, type JsonSchema, lookUp } from './subschemas.ts';

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
const MAX_SHAPES = 200;

/**
 * The alternatives of `schema`, in order.
 *
 * @throws {TypeError} if a `$ref` names no part of `root`, or the schema has too many alternatives
 */
export function shapesOf(schema: Schema, root: JsonSchema): readonly Shape[] {
  const alternatives = alternativesOf(schema, (ref, followed) => {
    if (followed.includes(ref)) {
      throw new TypeError('it refers to itself without a field in between');
    }
    return resolve(ref, root);
  });
  if (alternatives.length > MAX_SHAPES) throw new TypeError(TOO_MANY);
  return alternatives.flatMap(shapeOf);
}

/** The part of `root` that a reference such as `#/$defs/User` names. */
function resolve(ref: string, root: JsonSchema): unknown {
  if (!/^#(?:\/|$)/.test(ref)) throw new TypeError(`it refers to "${ref}", outside of itself`);
  const found = lookUp(root, ref);
  if (found === undefined) throw new TypeError(`it refers to "${ref}", which does not exist`);
  return found;
}

/** Keywords that imply a type: a contract with `properties` declares an object. */
const IMPLIED = {
  object: ['properties', 'required', 'additionalProperties', 'patternProperties'],
  array: ['items', 'prefixItems'],
};

function shapeOf({ type, parts }: Alternative): Shape | readonly Shape[] {
  const has = (keywords: readonly string[]) =>
    parts.some((part) => keywords.some((keyword) => keyword in part));
  const isAny = type === 'any';
  if (type === 'object' || (isAny && has(IMPLIED.object))) return objectShape(parts);
  if (type === 'array' || (isAny && has(IMPLIED.array))) return arrayShape(parts);
  if (isAny) return ANY;
  const values = parts.map((part) => part.enum).find(Array.isArray);
  return LEAVES.includes(type) ? { kind: 'leaf', type: type as LeafType, values } : [];
}

/** The fields of all parts; a field that several parts describe must satisfy all of them. */
function objectShape(parts: readonly JsonSchema[]): ObjectShape {
  const shapes = parts.map(({ properties, required, patternProperties, ...part }): ObjectShape => {
    const others = part.additionalProperties ?? part.unevaluatedProperties ?? false;
    return {
      kind: 'object',
      properties: new Map(entriesOf(properties)),
      required: new Set(listOf(required).map(String)),
      others: others === false ? undefined : toSchema(others),
      patterns: entriesOf(patternProperties),
    };
  });
  return {
    ...unionOf(shapes),
    properties: joinProperties('allOf', shapes),
    required: new Set(shapes.flatMap(({ required }) => [...required])),
  };
}

function arrayShape(parts: readonly JsonSchema[]): ArrayShape {
  const described = parts.find((part) => IMPLIED.array.some((keyword) => keyword in part));
  const { prefixItems, items = prefixItems === undefined } = described ?? {};
  const rest = items === false ? undefined : toSchema(items);
  return { kind: 'array', first: listOf(prefixItems).map(toSchema), rest };
}

/** The shape of an object with the fields of all `shapes`, none of them required. */
export function unionOf(shapes: readonly ObjectShape[]): ObjectShape {
  const others = shapes.flatMap((shape) => (shape.others === undefined ? [] : [shape.others]));
  return {
    kind: 'object',
    properties: joinProperties('anyOf', shapes),
    required: new Set(),
    others: others.length > 0 ? join('anyOf', others) : undefined,
    patterns: shapes.flatMap((shape) => shape.patterns),
  };
}

function joinProperties(
  keyword: 'anyOf' | 'allOf',
  shapes: readonly ObjectShape[],
): ReadonlyMap<string, Schema> {
  const properties = new Map<string, Schema>();
  for (const [name, schema] of shapes.flatMap((shape) => [...shape.properties])) {
    const present = properties.get(name);
    properties.set(name, present === undefined ? schema : join(keyword, [present, schema]));
  }
  return properties;
}

/**
 * Combines schemas without nested and repeated parts: of a recursive schema, the combinations of its
 * parts are finite.
 */
export function join(keyword: 'anyOf' | 'allOf', schemas: readonly Schema[]): Schema {
  const parts = schemas.flatMap((schema) => {
    const { [keyword]: list, ...rest } = isRecord(schema) ? schema : {};
    return Array.isArray(list) && Object.keys(rest).length === 0 ? list.map(toSchema) : [schema];
  });
  const [first, ...others] = new Map(parts.map((part) => [JSON.stringify(part), part])).values();
  return first !== undefined && others.length === 0 ? first : { [keyword]: [first, ...others] };
}

function toSchema(value: unknown): Schema {
  return isRecord(value) ? value : true;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function entriesOf(value: unknown): [string, Schema][] {
  if (!isRecord(value)) return [];
  const allowed = Object.entries(value).filter(([, schema]) => schema !== false);
  return allowed.map(([name, schema]) => [name, toSchema(schema)]);
}
