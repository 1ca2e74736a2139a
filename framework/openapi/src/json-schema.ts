/** A JSON Schema, draft 2020-12, as OpenAPI 3.1 uses it. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** The input or the output of a schema. */
export type Direction = 'input' | 'output';

/** Overrides the conversion of a schema; returns `undefined` for the default conversion. */
export type ToJsonSchema = (schema: unknown, direction: Direction) => unknown;

/** The properties of a schema that the conversion reads. */
interface Convertible {
  readonly '~standard'?: {
    readonly vendor?: unknown;
    readonly jsonSchema?: Partial<Record<Direction, (options: { target: string }) => unknown>>;
  };
  readonly toJSONSchema?: (options: object) => unknown;
  readonly toJsonSchema?: (options: object) => unknown;
  readonly _zod?: unknown;
}

const TARGET = 'draft-2020-12';
const DATE_TIME = { type: 'string', format: 'date-time' };

/**
 * Converts a schema: with `override`, else with `~standard.jsonSchema`, else with the function of its
 * library (zod 4, `@valibot/to-json-schema`, arktype). An object that is not a Standard Schema is used as
 * JSON Schema. If nothing can convert a schema, the result is `{}`.
 */
export async function toJsonSchema(
  schema: unknown,
  direction: Direction,
  override?: ToJsonSchema,
): Promise<JsonSchema> {
  const overridden = await override?.(schema, direction);
  if (isSchema(overridden)) return overridden;
  if (!isConvertible(schema)) return {};
  if (schema['~standard'] === undefined) return isSchema(schema) ? { ...schema } : {};
  return (
    attempt(() => schema['~standard']?.jsonSchema?.[direction]?.({ target: TARGET })) ??
    (await convertByVendor(schema, direction)) ??
    {}
  );
}

function isConvertible(value: unknown): value is Convertible {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The result of `convert`; `undefined` if it throws because JSON Schema lacks the type. */
function attempt(convert: () => unknown): JsonSchema | undefined {
  try {
    const converted = convert();
    return isSchema(converted) ? converted : undefined;
  } catch {
    return undefined;
  }
}

async function convertByVendor(
  schema: Convertible,
  direction: Direction,
): Promise<JsonSchema | undefined> {
  switch (schema['~standard']?.vendor) {
    case 'zod':
      return schema._zod === undefined ? undefined : convertZod(schema, direction);
    case 'valibot':
      return convertValibot(schema, direction);
    case 'arktype':
      return attempt(() => schema.toJsonSchema?.({ fallback: arktypeFallback }));
    default:
      return undefined;
  }
}

/** The argument of zod's `override`. */
interface ZodPart {
  readonly zodSchema: { readonly _zod: { readonly def: { readonly type: string } } };
  readonly jsonSchema: Record<string, unknown>;
}

async function convertZod(
  schema: Convertible,
  direction: Direction,
): Promise<JsonSchema | undefined> {
  const options = {
    target: TARGET,
    io: direction,
    unrepresentable: 'any',
    override({ zodSchema, jsonSchema }: ZodPart): void {
      if (zodSchema._zod.def.type === 'date') Object.assign(jsonSchema, DATE_TIME);
    },
  } as const;
  if (schema.toJSONSchema) return attempt(() => schema.toJSONSchema?.(options));
  // Schemas of zod/mini have no methods, so the function of the library is used.
  const zod = await import('zod').catch(() => undefined);
  return attempt(() => zod?.toJSONSchema(schema as never, options));
}

async function convertValibot(
  schema: Convertible,
  direction: Direction,
): Promise<JsonSchema | undefined> {
  const valibot = await import('@valibot/to-json-schema').catch(() => undefined);
  return attempt(() =>
    valibot?.toJsonSchema(schema as never, {
      target: TARGET,
      typeMode: direction,
      errorMode: 'ignore',
      overrideSchema: ({ valibotSchema }) =>
        valibotSchema.type === 'date' ? { type: 'string', format: 'date-time' } : undefined,
    }),
  );
}

/** The fallback of arktype for types that JSON Schema lacks: dates become strings, others `{}`. */
function arktypeFallback({ code, base }: { readonly code: string; readonly base: object }): object {
  return code === 'date' ? { ...base, ...DATE_TIME } : base;
}
