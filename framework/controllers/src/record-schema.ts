import type { StandardSchema } from '@fw/validation';

type Schemas = ReadonlyMap<string, StandardSchema>;
type JsonSchemas = NonNullable<StandardSchema['~standard']['jsonSchema']>;
type Side = keyof JsonSchemas;
type JsonSchemaOptions = Parameters<JsonSchemas[Side]>[0];

/** A schema that validates some fields of an object and keeps the others. */
export function recordSchema(schemas: Schemas): StandardSchema<unknown, Record<string, unknown>> {
  const jsonSchema = (side: Side) => (options: JsonSchemaOptions) => ({
    type: 'object',
    properties: Object.fromEntries(
      [...schemas].map(([name, schema]) => [name, jsonSchemaOf(schema, side, options)]),
    ),
    required: [...schemas.keys()],
  });
  const standard = {
    version: 1,
    vendor: 'fw',
    validate: (value: unknown) => validateFields(schemas, Object(value)),
    jsonSchema: { input: jsonSchema('input'), output: jsonSchema('output') },
  } as const;
  // `validate()` finds the fields here, as in a schema of valibot.
  return Object.assign({ '~standard': standard }, { entries: Object.fromEntries(schemas) });
}

function jsonSchemaOf(schema: StandardSchema, side: Side, options: JsonSchemaOptions): unknown {
  return schema['~standard'].jsonSchema?.[side](options) ?? {};
}

type Result = Awaited<ReturnType<StandardSchema['~standard']['validate']>>;
type FieldResult = readonly [name: string, result: Result];

function validateFields(schemas: Schemas, value: Readonly<Record<string, unknown>>) {
  const results = [...schemas].map(([name, schema]) => validateField(name, schema, value[name]));
  return results.every(isSettled)
    ? join(value, results)
    : Promise.all(results).then((settled) => join(value, settled));
}

function validateField(
  name: string,
  schema: StandardSchema,
  value: unknown,
): FieldResult | Promise<FieldResult> {
  try {
    const result = schema['~standard'].validate(value);
    return result instanceof Promise ? result.then((settled) => [name, settled]) : [name, result];
  } catch (error) {
    return Promise.reject(error); // the schemas of other fields may be at work
  }
}

function isSettled(result: FieldResult | Promise<FieldResult>): result is FieldResult {
  return !(result instanceof Promise);
}

function join(value: Readonly<Record<string, unknown>>, results: readonly FieldResult[]) {
  const issues = results.flatMap(([name, result]) =>
    (result.issues ?? []).map((issue) => ({
      ...issue,
      message: issue.message,
      path: [name, ...(issue.path ?? [])],
    })),
  );
  if (results.some(([, result]) => result.issues)) return { issues };
  const output: Record<string, unknown> = { ...value };
  for (const [name, result] of results) {
    if (!result.issues) output[name] = result.value;
  }
  return { value: output };
}
