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

export interface LeafShape {
  readonly kind: 'leaf';
  readonly type: LeafType;
  /** The values of `const` or `enum`. */
  readonly values: readonly unknown[] | undefined;
}

export interface ObjectShape {
  readonly kind: 'object';
  /** The fields with a known name; `false` for one that must be absent. */
  readonly properties: ReadonlyMap<string, Schema>;
  readonly required: ReadonlySet<string>;
  /** What applies to fields with other names: all rules whose `test` a name passes. */
  readonly others: readonly NameRule[];
}

/** The schema of the fields whose name passes `test`; `false` if they must be absent. */
export interface NameRule {
  readonly schema: Schema;
  /** Default: any name passes. */
  readonly test?: NameTest;
}

type NameTest = (name: string) => boolean;

export interface ArrayShape {
  readonly kind: 'array';
  readonly first: readonly Schema[];
  /** The schema of the items after `first`; `undefined` if there are none. */
  readonly rest: Schema | undefined;
}

/** The schema of a field that is required and not described: any value, unless an alternative describes it. */
export const REQUIRED: Schema = {};

const ANY: AnyShape = { kind: 'any' };
const LEAVES: readonly string[] = ['string', 'number', 'integer', 'boolean', 'null'];
const MAX_SHAPES = 200;

/**
 * The alternatives of `schema`, in order.
 *
 * @throws {TypeError} if a `$ref` names no part of `root`, the schema has too many alternatives, or a keyword
 *   describes fields in a way that cannot be followed
 */
export function shapesOf(schema: Schema, root: JsonSchema): readonly Shape[] {
  const shapes = split(schema, root).flatMap((alternative) => shapeOf(alternative, root));
  if (shapes.length > MAX_SHAPES) throw new TypeError(TOO_MANY);
  return shapes;
}

function split(schema: Schema, root: JsonSchema): readonly Alternative[] {
  return alternativesOf(schema, (ref, followed) => {
    if (followed.includes(ref)) {
      throw new TypeError('it refers to itself without a field in between');
    }
    return resolve(ref, root);
  });
}

/** The part of `root` that a reference such as `#/$defs/User` names. */
function resolve(ref: string, root: JsonSchema): unknown {
  if (!/^#(?:\/|$)/.test(ref)) throw new TypeError(`it refers to "${ref}", outside of itself`);
  const found = lookUp(root, ref);
  if (found === undefined) throw new TypeError(`it refers to "${ref}", which does not exist`);
  return found;
}

/** Keywords that describe the items of a list; without any, all are allowed. */
const ITEMS = ['items', 'prefixItems', 'unevaluatedItems'];

/**
 * Keywords that imply a type: a contract with `properties` declares an object. As in JSON Schema they would
 * allow values of all other types, with undeclared fields.
 */
const IMPLIED = {
  object: [
    ...['properties', 'required', 'additionalProperties', 'patternProperties', 'propertyNames'],
    ...['unevaluatedProperties', 'dependentRequired', 'dependentSchemas'],
  ],
  array: [...ITEMS, 'contains'],
};

function shapeOf({ type, parts }: Alternative, root: JsonSchema): readonly Shape[] {
  const values = parts.map((part) => part.enum).find(Array.isArray);
  if (LEAVES.includes(type)) return [{ kind: 'leaf', type: type as LeafType, values }];
  for (const part of parts) rejectUnsupported(part);
  const declares = (kind: 'object' | 'array') =>
    type === kind ||
    (type === 'any' && parts.some((part) => IMPLIED[kind].some((keyword) => keyword in part)));
  // A constant object declares its fields, a constant list its items.
  const variants = values?.map((value) => [...parts, declarationOf(value)]) ?? [parts];
  const shapes = variants.flatMap((variant): Shape[] => [
    ...(declares('object') ? [objectShape(variant, root)] : []),
    ...(declares('array') ? [arrayShape(variant)] : []),
  ]);
  return type === 'any' && shapes.length === 0 ? [ANY] : shapes;
}

/** A schema that describes the fields and items of one value. */
function declarationOf(value: unknown): JsonSchema {
  if (Array.isArray(value)) return { prefixItems: value.map((item) => ({ const: item })) };
  const fields = Object.entries(Object(value)).map(([name, field]) => [name, { const: field }]);
  return { properties: Object.fromEntries(fields), required: Object.keys(Object(value)) };
}

/** References whose target depends on the path to them. */
const DYNAMIC = ['$dynamicRef', '$recursiveRef'];

/** Keywords whose schemas apply to some values only, and those of older drafts. */
const CONDITIONAL = ['then', 'else', 'dependentSchemas', 'contains', 'dependencies'];

/** Keywords that describe no field. */
const ASSERTIONS = new Set([
  ...['type', 'required', 'dependentRequired', 'not', 'pattern', 'format', 'uniqueItems'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  ...['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'],
  ...['title', 'description', '$comment', 'examples', 'default', 'deprecated'],
]);

/** @throws {TypeError} if the copy would lack declared fields, or have others */
function rejectUnsupported(part: JsonSchema): void {
  const dynamic = DYNAMIC.find((keyword) => keyword in part);
  if (dynamic) throw new TypeError(`it has "${dynamic}": expected "$ref"`);
  if (Array.isArray(part.items) || 'additionalItems' in part) {
    throw new TypeError('it has a list in "items": expected "prefixItems"');
  }
  const describing = CONDITIONAL.find((keyword) => !branchesOf(part, keyword).every(onlyAsserts));
  if (describing) {
    throw new TypeError(
      `it describes values in "${describing}", which applies to some only: expected "oneOf" with a constant field`,
    );
  }
}

function onlyAsserts(branch: unknown): boolean {
  return Object.entries(Object(branch)).every(([keyword, value]) =>
    keyword === 'const' || keyword === 'enum'
      ? [value].flat().every((each) => Object(each) !== each)
      : ASSERTIONS.has(keyword),
  );
}

function branchesOf(part: JsonSchema, keyword: string): readonly unknown[] {
  const value = part[keyword];
  if (!keyword.startsWith('depend')) return [value];
  return Object.values(Object(value)).filter((branch) => !Array.isArray(branch));
}

/** The fields of all parts; a field that several parts describe must satisfy all of them. */
function objectShape(parts: readonly JsonSchema[], root: JsonSchema): ObjectShape {
  const described = parts.map(describe);
  const rules = described.flatMap((part) => part.rules);
  const unevaluated = unevaluatedOf(parts, 'unevaluatedProperties');
  const required = new Set(parts.flatMap((part) => listOf(part.required).map(String)));
  const names = new Set([
    ...described.flatMap(({ properties }) => [...properties.keys()]),
    ...required,
    ...parts.flatMap(conditionallyRequired),
  ]);
  const acceptsName = nameTestOf(parts, root);
  const schemaOf = (name: string): Schema => {
    const schemas = described.flatMap((part) => part.schemasOf(name));
    if (acceptsName?.(name) === false || schemas.includes(false)) return false;
    return join('allOf', [schemas, unevaluated, [REQUIRED]].find(({ length }) => length > 0)!);
  };
  const isUnevaluated = (name: string) => rules.every(({ test }) => test?.(name) === false);
  return {
    kind: 'object',
    properties: new Map([...names].map((name) => [name, schemaOf(name)])),
    required,
    others: [
      ...rules,
      ...unevaluated.map((schema) => ({
        schema,
        ...(rules.length > 0 && { test: isUnevaluated }),
      })),
      ...(acceptsName ? [{ schema: false, test: (name: string) => !acceptsName(name) }] : []),
    ],
  };
}

/** What one part says about fields. */
function describe(part: JsonSchema) {
  const properties = new Map(entriesOf(part.properties));
  const patterns = entriesOf(part.patternProperties).map(([pattern, schema]) => {
    const expression = new RegExp(pattern, 'u');
    return { schema, test: (name: string) => expression.test(name) };
  });
  const matches = (name: string) => patterns.filter(({ test }) => test(name));
  const isOther = (name: string) => matches(name).length === 0;
  const rules: readonly NameRule[] = [
    ...patterns,
    ...otherOf(part.additionalProperties).map((schema) => ({
      schema,
      ...(patterns.length > 0 && { test: isOther }),
    })),
  ];
  const schemasOf = (name: string): readonly Schema[] => {
    const own = properties.get(name);
    const applied =
      own === undefined ? rules.filter(({ test }) => test?.(name) !== false) : matches(name);
    return [...(own === undefined ? [] : [own]), ...applied.map(({ schema }) => schema)];
  };
  return { properties, rules, schemasOf };
}

/** Of several schemas for what is not evaluated, only the innermost one applies: any of them may be it. */
function unevaluatedOf(parts: readonly JsonSchema[], keyword: string): readonly Schema[] {
  const schemas = parts.flatMap((part) => otherOf(part[keyword]));
  return schemas.length === 0 ? [] : [join('anyOf', schemas)];
}

/** The schema of what other keywords do not describe; `false` describes nothing. */
function otherOf(value: unknown = false): readonly Schema[] {
  return value === false ? [] : [toSchema(value)];
}

/** The fields that an object must have if it has another one, or on another condition. */
function conditionallyRequired(part: JsonSchema): string[] {
  const dependent = Object.values(Object(part.dependentRequired)).flatMap(listOf);
  const branches = CONDITIONAL.flatMap((keyword) => branchesOf(part, keyword));
  const required = branches.flatMap((branch) => listOf(Reflect.get(Object(branch), 'required')));
  return [...dependent, ...required].map(String);
}

/** A test of the names that `propertyNames` allows; `undefined` if these are all. */
function nameTestOf(parts: readonly JsonSchema[], root: JsonSchema): NameTest | undefined {
  const limits = parts
    .filter((part) => 'propertyNames' in part)
    .map((part) => split(toSchema(part.propertyNames), root).filter(isText).map(nameTestsOf))
    .filter((ways) => ways.every((tests) => tests.length > 0));
  if (limits.length === 0) return undefined;
  return (name) => limits.every((ways) => ways.some((tests) => tests.every((test) => test(name))));
}

function isText({ type }: Alternative): boolean {
  return type === 'string' || type === 'any';
}

/** The tests of a name, all of which it must pass. */
function nameTestsOf({ parts }: Alternative): NameTest[] {
  return parts.flatMap((part) => {
    const { enum: values, pattern, minLength = 0, maxLength = Number.POSITIVE_INFINITY } = part;
    if ('not' in part) throw new TypeError('it has "not" in "propertyNames": expected "pattern"');
    const expression = typeof pattern === 'string' ? new RegExp(pattern, 'u') : undefined;
    const isLimited = 'minLength' in part || 'maxLength' in part;
    const fits = ({ length }: readonly unknown[]) =>
      length >= Number(minLength) && length <= Number(maxLength);
    return [
      ...(Array.isArray(values) ? [(name: string) => values.includes(name)] : []),
      ...(expression ? [(name: string) => expression.test(name)] : []),
      ...(isLimited ? [(name: string) => fits([...name])] : []),
    ];
  });
}

/** The items of all parts. After `prefixItems`, a list without `items` has no others. */
function arrayShape(parts: readonly JsonSchema[]): ArrayShape {
  const lists = parts.map((part) => ({
    first: listOf(part.prefixItems).map(toSchema),
    rest: otherOf(part.items),
  }));
  const at = (index: number) =>
    lists.flatMap(({ first, rest }) => (index < first.length ? [first[index]!] : rest));
  const length = Math.max(...lists.map(({ first }) => first.length));
  const unevaluated = unevaluatedOf(parts, 'unevaluatedItems');
  const isDescribed = parts.some((part) => ITEMS.some((keyword) => keyword in part));
  const rest = [at(length), unevaluated, isDescribed ? [] : [true]].find(
    ({ length }) => length > 0,
  );
  return {
    kind: 'array',
    first: Array.from({ length }, (_, index) => join('allOf', at(index))),
    rest: rest && join('allOf', rest),
  };
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

/** @throws {TypeError} if `value` is not a schema: any value would be allowed */
function toSchema(value: unknown): Schema {
  if (isRecord(value) || typeof value === 'boolean') return value;
  throw new TypeError(`it has ${JSON.stringify(value)} in place of a schema`);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function entriesOf(value: unknown): [string, Schema][] {
  return Object.entries(Object(value)).map(([name, schema]) => [name, toSchema(schema)]);
}
