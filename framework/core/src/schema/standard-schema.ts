/** A schema of any library that follows Standard Schema, version 1 (https://standardschema.dev). */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    /** Returns the JSON Schema of the input or output of `validate`; some libraries provide it. */
    readonly jsonSchema?:
      | { readonly input: JsonSchemaOf; readonly output: JsonSchemaOf }
      | undefined;
    /** Types only; undefined at run time. */
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** @throws if the schema contains a type that JSON Schema cannot describe */
type JsonSchemaOf = (options: { readonly target: 'draft-2020-12' }) => unknown;

/** The result of a validation: the output, or the issues. */
export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

/** One reason why a schema rejects a value. */
export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** The output type of `Schema`. */
export type OutputOf<Schema> =
  Schema extends StandardSchema<unknown, infer Output> ? Output : unknown;

/** Whether `value` is a Standard Schema; in some libraries schemas are functions. */
export function isStandardSchema(value: unknown): value is StandardSchema {
  if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return false;
  const standard: unknown = Reflect.get(value, '~standard');
  return (
    typeof standard === 'object' &&
    standard !== null &&
    typeof Reflect.get(standard, 'validate') === 'function'
  );
}
