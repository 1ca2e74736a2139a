/** A schema of any library that follows Standard Schema, version 1 (https://standardschema.dev). */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    /** Returns the JSON Schema of what `validate` takes or returns; offered by some libraries. */
    readonly jsonSchema?:
      | { readonly input: JsonSchemaOf; readonly output: JsonSchemaOf }
      | undefined;
    /** For the compiler only. */
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** @throws if the schema has a type that JSON does not have */
type JsonSchemaOf = (options: { readonly target: 'draft-2020-12' }) => unknown;

/** What a schema says of a value: its output, or what is wrong with it. */
export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** The type of what `Schema` makes of a value that fits. */
export type OutputOf<Schema> =
  Schema extends StandardSchema<unknown, infer Output> ? Output : unknown;

/** Whether `value` is such a schema; those of some libraries are functions. */
export function isStandardSchema(value: unknown): value is StandardSchema {
  if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return false;
  const standard: unknown = Reflect.get(value, '~standard');
  return (
    typeof standard === 'object' &&
    standard !== null &&
    typeof Reflect.get(standard, 'validate') === 'function'
  );
}
