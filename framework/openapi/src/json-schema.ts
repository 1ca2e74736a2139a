/** A JSON Schema of draft 2020-12, which OpenAPI 3.1 takes as it is. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Which side of a schema is meant: what it takes, or what it makes of it. */
export type Direction = 'input' | 'output';

/** Overrides how a schema becomes JSON Schema; `undefined` leaves it to the converters. */
export type ToJsonSchema = (schema: unknown, direction: Direction) => unknown;

/** What is read of a schema: Standard Schema's properties, and each library's own export. */
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
 * Converts any schema: by `override`, by the schema's own `~standard.jsonSchema`, then as its library
 * does (zod from 4 on, valibot with `@valibot/to-json-schema`, arktype). An object that is no Standard
 * Schema is taken as JSON Schema. What cannot be converted is the untyped schema `{}`.
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

/** What `convert` makes; nothing if it throws, as converters do at a type that JSON does not have. */
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

/** What zod hands to `override` for each part of a schema. */
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
  // Schemas of zod/mini have no methods: the function is the library's.
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

/** arktype asks for each part that JSON does not have: a date is written as one, others are untyped. */
function arktypeFallback({ code, base }: { readonly code: string; readonly base: object }): object {
  return code === 'date' ? { ...base, ...DATE_TIME } : base;
}
