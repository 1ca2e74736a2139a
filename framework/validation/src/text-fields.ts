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
interface Field {
  readonly name: string;
  /** The types of the values that it accepts: `any`, or types of JSON Schema. */
  readonly types: readonly string[];
  /** Those of its items, if it accepts a list. */
  readonly itemTypes: readonly string[];
  readonly limits: readonly JsonSchema[];
  readonly canBeBoolean: boolean;
  /** Validates a sample as this field; `undefined` if the code of the schema cannot process it. */
  readonly read: (sample: unknown) => Outcome | undefined;
}

/** Types that no text has, each with a schema that converts text to it. */
const CONVERSIONS = new Map([
  ['number', 'z.coerce.number()'],
  ['integer', 'z.coerce.number()'],
  ['boolean', 'z.stringbool()'],
]);
const TO_LIST = "z.string().transform((text) => text.split(','))";

/**
 * Rejects a schema whose values are text, if it expects numbers, booleans or, without `lists`, a list: every
 * request with one would get 400. Also one that makes `true` of "false". Only schemas that have a JSON
 * Schema form are checked, and then with samples: a schema that converts text may have the same form.
 *
 * @throws {TypeError} with the part, the field and a schema that converts text
 */
export function requireTextInput(
  part: string,
  schema: StandardSchema,
  { lists }: { readonly lists: boolean },
): void {
  for (const field of fieldsOf(schema)) {
    const type = rejectedType(field);
    if (type !== undefined) throw badType(part, field.name, type, CONVERSIONS.get(type));
    if (!lists && isList(field)) throw badType(part, field.name, 'array', TO_LIST);
    if (field.canBeBoolean && wrapsOf(field).some((wrap) => readsFalseAsTrue(field, wrap))) {
      throw new TypeError(
        `Cannot validate ${part} "${field.name}" as type boolean: it would be true for the text "false"; expected a schema that reads the text, such as z.stringbool() of zod`,
      );
    }
  }
}

function badType(part: string, name: string, type: string, conversion: string | undefined) {
  return new TypeError(
    `Cannot validate ${part} "${name}" as type ${type}: its value is text; expected a schema that converts it, such as ${conversion} of zod`,
  );
}

/** The names of the fields that accept a list and no text: one value is a list of one. */
export function listNamesOf(schema: StandardSchema): readonly string[] {
  const fields = fieldsOf(schema);
  const others = new Set(fields.filter((field) => !isList(field)).map(({ name }) => name));
  return [...new Set(fields.map(({ name }) => name))].filter((name) => !others.has(name));
}

type Wrap = (value: unknown) => unknown;

const asItIs: Wrap = (value) => value;

/** Lists of a value; a schema may require some items. */
const IN_LISTS: readonly Wrap[] = [(value) => [value], (value) => [value, value]];

function wrapsOf({ types }: Field): readonly Wrap[] {
  return types.includes('array') ? [asItIs, ...IN_LISTS] : [asItIs];
}

/** A type of the field, or of its items, that text is not and that the schema does not make of it. */
function rejectedType(field: Field): string | undefined {
  return (
    typesWithoutText(field.types).find((type) => !acceptsText(field, type, asItIs)) ??
    typesWithoutText(field.itemTypes).find((type) =>
      IN_LISTS.some((wrap) => !acceptsText(field, type, wrap)),
    )
  );
}

/** The types that no text has; none if some text is accepted. */
function typesWithoutText(types: readonly string[]): readonly string[] {
  return types.includes('string') ? [] : types.filter((type) => CONVERSIONS.has(type));
}

/** Whether the field accepts texts of `type`, or none of the samples. */
function acceptsText(field: Field, type: string, wrap: Wrap): boolean {
  const messagesOf = (value: unknown) => {
    const outcome = field.read(wrap(value));
    return typeof outcome === 'object'
      ? outcome.issues.map(({ message }) => message).join()
      : undefined;
  };
  // A conversion to a number returns NaN for both. Refinements, which may be slow, do not run for NaN.
  const isUnion = field.types.length > 1; // its message does not depend on the value
  if (messagesOf('x') === messagesOf(Number.NaN) && !isUnion) return true;
  const limits = field.limits.flatMap(({ minimum, maximum }) => [minimum, maximum]);
  const samples = type === 'boolean' ? [true, false] : [1, ...limits];
  return !samples
    .filter((sample) => sample !== undefined)
    .some((sample) => messagesOf(sample) === '' && Boolean(messagesOf(String(sample))));
}

/** Whether "false" becomes true, as by `Boolean()`. */
function readsFalseAsTrue(field: Field, wrap: Wrap): boolean {
  const outputOf = (text: string) => {
    const outcome = field.read(wrap(text));
    return typeof outcome === 'object' && outcome.issues.length === 0
      ? JSON.stringify(outcome.value)
      : undefined;
  };
  const no = outputOf('false');
  const isFalse = no === JSON.stringify(wrap(false));
  const isBoolean = [...field.types, ...field.itemTypes].includes('boolean');
  if (isBoolean) return no !== undefined && no === outputOf('true') && !isFalse;
  return no === JSON.stringify(wrap(true)) && outputOf('') === JSON.stringify(wrap(false));
}

const SAMPLES = ['x', '1', ''];

/** Whether a field accepts a list and no text. */
function isList({ types, read }: Field): boolean {
  const isOther = types.includes('string') || typesWithoutText(types).length > 0;
  if (!types.includes('array') || isOther) return false;
  return SAMPLES.map(read).every((outcome) => {
    if (outcome === 'later') return !types.includes('any');
    const issues = outcome?.issues ?? [];
    // An issue of an item means that the schema has made a list of the text.
    return issues.length > 0 && issues.every(({ path = [] }) => path.length === 0);
  });
}

/** The fields of `schema`, in all its alternatives. */
function fieldsOf(schema: StandardSchema): readonly Field[] {
  const known = innerFieldsOf(schema, 0);
  const root = toJsonSchema(schema, 'input');
  const names = new Set(known.map(([name]) => name));
  const others = propertiesOf(root).named.filter(({ name }) => !names.has(name));
  return [
    ...known.map(([name, field]) =>
      describeField(name, toJsonSchema(field, 'input'), {
        canBeBoolean: canBeBoolean(field),
        read: (sample) => validateSample(field, sample),
      }),
    ),
    ...others.map(({ name, schema: property }) =>
      describeField(
        name,
        { ...property, $defs: root.$defs },
        {
          canBeBoolean: true,
          read: (sample) => readField(schema, { [name]: sample }, name),
        },
      ),
    ),
  ];
}

function describeField(
  name: string,
  schema: JsonSchema,
  checks: Pick<Field, 'canBeBoolean' | 'read'>,
): Field {
  const alternatives = split(schema, schema);
  const items = alternatives
    .filter(({ type }) => type === 'array')
    .flatMap(({ parts }) =>
      parts.flatMap((part) => [part.items ?? [], part.prefixItems ?? []].flat()),
    );
  const ofItems = items.flatMap((item) => split(item, schema));
  return {
    ...{ name, ...checks },
    types: alternatives.map(({ type }) => type),
    itemTypes: ofItems.map(({ type }) => type),
    limits: [...alternatives, ...ofItems].flatMap(({ parts }) => parts),
  };
}

function split(schema: unknown, root: JsonSchema) {
  return alternativesOf(schema, (ref, followed) => followed.includes(ref) || lookUp(root, ref));
}

/** Whether an output may be a boolean; the JSON Schema of valibot does not contain conversions. */
function canBeBoolean(schema: StandardSchema): boolean {
  if (schema['~standard'].vendor === 'valibot') return !Reflect.get(schema, 'async');
  const { types, itemTypes } = describeField('', toJsonSchema(schema, 'output'), {
    canBeBoolean: true,
    read: () => undefined,
  });
  return [...types, ...itemTypes].some((type) => type === 'boolean' || type === 'any');
}

/** The properties of schemas of zod, valibot and arktype from which their fields follow. */
interface Inner {
  readonly type?: unknown;
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
        ...(Array.isArray(inner.options) ? inner.options : []),
        ...(inner.type === 'lazy' ? [inner.getter?.(undefined)] : []),
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
