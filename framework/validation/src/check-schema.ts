import {
  type JsonSchema,
  type SchemaIssue,
  type StandardSchema,
  toJsonSchema,
} from '@fw/core/schema';

/** Types that no text has, each with a schema that converts text to it. */
const CONVERSIONS = new Map<unknown, string>([
  ['number', 'z.coerce.number()'],
  ['integer', 'z.coerce.number()'],
  ['boolean', 'z.stringbool()'],
]);

/**
 * Rejects a schema of the query, the path parameters or the headers that expects a number or a boolean:
 * their values are text, so every request with one would get 400. Only schemas that have a JSON Schema
 * form are checked, and then with samples: a schema that converts text may have the same form.
 *
 * @throws {TypeError} with the part, the property and a schema that converts text
 */
export function requireTextInput(part: string, schema: StandardSchema): void {
  const { properties } = toJsonSchema(schema, 'input');
  for (const [name, property] of Object.entries<JsonSchema>(Object(properties))) {
    const type = [property.type].flat().find((each) => CONVERSIONS.has(each));
    if (type !== undefined && !acceptsText(schema, name, property)) {
      throw new TypeError(
        `Cannot validate ${part} "${name}" as type ${type}: its value is text; expected a schema that converts it, such as ${CONVERSIONS.get(type)} of zod`,
      );
    }
  }
}

/** Whether `schema` accepts texts as the property `name`, or accepts none of the samples. */
function acceptsText(schema: StandardSchema, name: string, property: JsonSchema): boolean {
  const issuesOf = (value: unknown) => sampleIssues(schema, { [name]: value }, name);
  // A conversion to a number returns NaN for both. Refinements, which may be slow, do not run for NaN.
  if (issuesOf('x')?.join() === issuesOf(Number.NaN)?.join()) return true;
  return !samplesOf(property).some(
    (sample) => issuesOf(sample)?.length === 0 && Boolean(issuesOf(String(sample))?.length),
  );
}

/** Numbers and booleans, some of which the schema probably accepts. */
function samplesOf({ type, minimum, maximum }: JsonSchema): readonly unknown[] {
  if (type === 'boolean') return [true, false];
  return [1, minimum, maximum].filter((sample) => sample !== undefined);
}

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
  const issues = sampleIssues(schema, params, name) ?? [];
  return isRead && issues.length > 0;
}

/**
 * The messages of `schema` about the property `name` of the sample `value`; `undefined` if that cannot be
 * checked, because the schema is asynchronous or its code cannot process the sample.
 */
function sampleIssues(
  schema: StandardSchema,
  value: object,
  name: string,
): readonly string[] | undefined {
  try {
    const result = schema['~standard'].validate(value);
    if ('then' in result) {
      result.then(undefined, () => undefined);
      return undefined;
    }
    const issues = (result.issues ?? []).filter(({ path }) => firstKeyOf(path) === name);
    return issues.map(({ message }) => message);
  } catch {
    return undefined;
  }
}

function firstKeyOf([step]: SchemaIssue['path'] = []): unknown {
  return typeof step === 'object' ? step.key : step;
}
