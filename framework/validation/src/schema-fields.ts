import {
  alternativesOf,
  isStandardSchema,
  type JsonSchema,
  lookUp,
  propertiesOf,
  type SchemaIssue,
  type StandardSchema,
  toJsonSchema,
} from '@fw/core/schema';

/** What a schema made of a sample; `later` if it is asynchronous. */
type Outcome = 'later' | { readonly issues: readonly SchemaIssue[]; readonly value?: unknown };

/** A field whose values arrive as text, or as a list of texts if the name is repeated. */
export interface Field {
  readonly name: string;
  /** The types of the values that it accepts: `any`, or types of JSON Schema. */
  readonly types: readonly string[];
  /** Those of its items, if it accepts a list. */
  readonly itemTypes: readonly string[];
  /** The least and the greatest number that it accepts, if they are declared. */
  readonly limits: readonly unknown[];
  readonly canBeBoolean: boolean;
  /** Validates a sample as this field; `undefined` if the code of the schema cannot process it. */
  readonly read: (sample: unknown) => Outcome | undefined;
}

/** The fields of `schema`, in all its alternatives. */
export function fieldsOf(schema: StandardSchema): readonly Field[] {
  const known = innerFieldsOf(schema, 0);
  const root = toJsonSchema(schema, 'input');
  const names = new Set(known.map(([name]) => name));
  const others = propertiesOf(root).named.filter(({ name }) => !names.has(name));
  return [
    ...known.map(([name, field]) => ({
      ...describeValues(toJsonSchema(field, 'input')),
      name,
      canBeBoolean: canBeBoolean(field),
      read: (sample: unknown) => validateSample(field, sample),
    })),
    ...others.map(({ name, schema: property }) => ({
      ...describeValues({ ...property, $defs: root.$defs }),
      name,
      canBeBoolean: true,
      read: (sample: unknown) => readField(schema, { [name]: sample }, name),
    })),
  ];
}

function describeValues(schema: JsonSchema): Pick<Field, 'types' | 'itemTypes' | 'limits'> {
  const alternatives = split(schema, schema);
  const items = alternatives
    .filter(({ type }) => type === 'array')
    .flatMap(({ parts }) =>
      parts.flatMap((part) => [part.items ?? [], part.prefixItems ?? []].flat()),
    );
  const ofItems = items.flatMap((item) => split(item, schema));
  return {
    types: alternatives.map(({ type }) => type),
    itemTypes: ofItems.map(({ type }) => type),
    limits: [...alternatives, ...ofItems]
      .flatMap(({ parts }) => parts)
      .flatMap(({ minimum, maximum }) => [minimum, maximum])
      .filter((limit) => limit !== undefined),
  };
}

function split(schema: unknown, root: JsonSchema) {
  return alternativesOf(schema, (ref, followed) => followed.includes(ref) || lookUp(root, ref));
}

/** Whether an output may be a boolean; the JSON Schema of valibot does not contain conversions. */
function canBeBoolean(schema: StandardSchema): boolean {
  if (schema['~standard'].vendor === 'valibot') return !Reflect.get(schema, 'async');
  const { types, itemTypes } = describeValues(toJsonSchema(schema, 'output'));
  return [...types, ...itemTypes].some((type) => type === 'boolean' || type === 'any');
}

/** The properties of schemas of zod, valibot and arktype from which their fields follow. */
interface Inner {
  readonly _zod?: { readonly def: Inner };
  /** The fields of an object: zod, valibot. */
  readonly shape?: object;
  readonly entries?: object;
  /** The schema that an optional one, or a lazy one, contains. */
  readonly innerType?: unknown;
  readonly wrapped?: unknown;
  readonly getter?: (input: unknown) => unknown;
  readonly in?: unknown;
  readonly left?: unknown;
  readonly right?: unknown;
  readonly options?: readonly unknown[];
  /** arktype. */
  readonly branches?: readonly Inner[];
  readonly kind?: unknown;
  readonly rawIn?: Inner;
  readonly props?: readonly { readonly key: unknown; readonly value: unknown }[];
}

/** A schema that contains itself has no end. */
const MAX_DEPTH = 8;

/** The schemas of the fields of an object, if its library shows them. */
function innerFieldsOf(schema: unknown, depth: number): (readonly [string, StandardSchema])[] {
  if (!isStandardSchema(schema) || depth > MAX_DEPTH) return [];
  const inner: Inner = (schema as Inner)._zod?.def ?? (schema as Inner);
  const isArktype = schema['~standard'].vendor === 'arktype';
  const fields = isArktype
    ? fieldsOfArktype(inner)
    : Object.entries(inner.shape ?? inner.entries ?? {});
  const parts = isArktype
    ? []
    : [
        ...[inner.innerType, inner.wrapped, inner.left, inner.right, inner.in],
        inner.getter?.(undefined),
        ...(Array.isArray(inner.options) ? inner.options : []),
      ];
  return [
    ...fields.filter((field): field is [string, StandardSchema] => isStandardSchema(field[1])),
    ...parts.flatMap((part) => innerFieldsOf(part, depth + 1)),
  ];
}

function fieldsOfArktype({ branches = [] }: Inner): [string, unknown][] {
  return branches.flatMap((branch) => {
    try {
      const { props = [] } = branch.kind === 'morph' ? (branch.rawIn ?? {}) : branch;
      return props.map(({ key, value }): [string, unknown] => [String(key), value]);
    } catch {
      return []; // only objects have fields
    }
  });
}

/** The outcome for the field `name` of the sample `value`. */
export function readField(
  schema: StandardSchema,
  value: object,
  name: string,
): Outcome | undefined {
  const outcome = validateSample(schema, value);
  if (typeof outcome !== 'object') return outcome;
  const own = outcome.issues.filter(({ path }) => keyOf(path?.[0]) === name);
  const issues = own.map(({ message, path }) => ({ message, path: path?.slice(1) }));
  return { issues, value: Reflect.get(Object(outcome.value), name) };
}

function keyOf(step: NonNullable<SchemaIssue['path']>[number] | undefined): unknown {
  return typeof step === 'object' ? step.key : step;
}

/** `undefined` if the code of the schema cannot process the sample. */
function validateSample(schema: StandardSchema, sample: unknown): Outcome | undefined {
  try {
    const result = schema['~standard'].validate(sample);
    if ('then' in result) {
      result.then(undefined, () => undefined);
      return 'later';
    }
    return result.issues ? { issues: result.issues } : { issues: [], value: result.value };
  } catch {
    return undefined;
  }
}
