import { createRequire } from 'node:module';

import { isStandardSchema, type StandardSchema } from './standard-schema.ts';

/** A JSON Schema, draft 2020-12, as OpenAPI 3.1 uses it. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** The input or the output of a schema. */
export type Direction = 'input' | 'output';

/** The properties of the libraries' schemas that the conversion reads. */
interface Convertible extends StandardSchema {
  readonly toJSONSchema?: (options: object) => unknown;
  readonly toJsonSchema?: (options: object) => unknown;
  readonly _zod?: unknown;
}

const TARGET = 'draft-2020-12';
const DATE_TIME = { type: 'string', format: 'date-time' };

/**
 * Converts a schema: with `~standard.jsonSchema`, else with the function of its library (zod 4,
 * `@valibot/to-json-schema`, arktype). An object that is not a Standard Schema is used as JSON Schema.
 * If nothing can convert a schema, or a part of it, the result is `{}`.
 */
export function toJsonSchema(schema: unknown, direction: Direction): JsonSchema {
  if (!isStandardSchema(schema)) return isJsonSchema(schema) ? { ...schema } : {};
  return (
    attempt(() => schema['~standard'].jsonSchema?.[direction]({ target: TARGET })) ??
    attempt(() => convertByVendor(schema, direction)) ??
    {}
  );
}

/** Whether `value` is an object. */
export function isJsonSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The result of `convert`; `undefined` if it throws because JSON Schema lacks the type. */
function attempt(convert: () => unknown): JsonSchema | undefined {
  try {
    const converted = convert();
    return isJsonSchema(converted) ? converted : undefined;
  } catch {
    return undefined;
  }
}

function convertByVendor(schema: Convertible, direction: Direction): unknown {
  switch (schema['~standard'].vendor) {
    case 'zod':
      return schema._zod === undefined ? undefined : convertZod(schema, direction);
    case 'valibot':
      return convertValibot(schema, direction);
    case 'arktype':
      return schema.toJsonSchema?.({ fallback: arktypeFallback });
    default:
      return undefined;
  }
}

/** Loads an optional package; bundlers leave it out. */
const load = createRequire(import.meta.url);

/** The argument of zod's `override`. */
interface ZodPart {
  readonly zodSchema: { readonly _zod: { readonly def: { readonly type: string } } };
  readonly jsonSchema: Record<string, unknown>;
}

function convertZod(schema: Convertible, direction: Direction): unknown {
  const options = {
    target: TARGET,
    io: direction,
    unrepresentable: 'any',
    override({ zodSchema, jsonSchema }: ZodPart): void {
      if (zodSchema._zod.def.type === 'date') Object.assign(jsonSchema, DATE_TIME);
    },
  } as const;
  if (schema.toJSONSchema) return schema.toJSONSchema(options);
  // Schemas of zod/mini have no methods, so the function of the library is used.
  const zod: typeof import('zod') = load('zod');
  return zod.toJSONSchema(schema as never, options);
}

function convertValibot(schema: Convertible, direction: Direction): unknown {
  return loadValibot().toJsonSchema(schema as never, {
    target: TARGET,
    typeMode: direction,
    errorMode: 'ignore',
    overrideSchema: ({ valibotSchema }) =>
      valibotSchema.type === 'date' ? { ...DATE_TIME, type: 'string' } : undefined,
  });
}

/** Bundlers include what `require` names, if it is installed; without a bundler it does not exist. */
function loadValibot(): typeof import('@valibot/to-json-schema') {
  try {
    return require('@valibot/to-json-schema');
  } catch {
    return load('@valibot/to-json-schema');
  }
}

/** The fallback of arktype for types that JSON Schema lacks: dates become strings, others `{}`. */
function arktypeFallback({ code, base }: { readonly code: string; readonly base: object }): object {
  return code === 'date' ? { ...base, ...DATE_TIME } : base;
}
