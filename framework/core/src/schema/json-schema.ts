import { loadOptional } from '../optional-package.ts';
import { isStandardSchema, type StandardSchema } from './standard-schema.ts';
import { pointerOf } from './stringify.ts';
import { isRecord, type JsonSchema, mapSubschemas } from './subschemas.ts';

export type { JsonSchema } from './subschemas.ts';

/** The input or the output of a schema. */
export type Direction = 'input' | 'output';

/** The properties of the libraries' schemas that the conversion reads. */
interface Convertible extends StandardSchema {
  readonly toJSONSchema?: (options: object) => unknown;
  readonly toJsonSchema?: (options: object) => unknown;
  readonly _zod?: unknown;
}

/** Keywords that distinguish a JSON Schema from a description; both may have `description`. */
export const KEYWORDS = [
  '$ref',
  'type',
  'properties',
  'items',
  'prefixItems',
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'const',
  'enum',
] as const;

export type JsonSchemaKeyword = (typeof KEYWORDS)[number];

const TARGET = 'draft-2020-12';
const DATE_TIME = { type: 'string', format: 'date-time' };

/**
 * Converts a schema: with `~standard.jsonSchema`, else with the function of its library (zod 4,
 * `@valibot/to-json-schema`, arktype). An object that is not a Standard Schema is used as JSON Schema.
 * If nothing can convert a schema, or a part of it, the result is `{}`.
 */
export function toJsonSchema(schema: unknown, direction: Direction): JsonSchema {
  if (!isStandardSchema(schema)) return isRecord(schema) ? { ...schema } : {};
  return (
    attempt(() => schema['~standard'].jsonSchema?.[direction]({ target: TARGET })) ??
    attempt(() => convertByVendor(schema, direction)) ??
    {}
  );
}

/**
 * Converts a schema as `toJsonSchema` does.
 *
 * @throws {TypeError} with the part that has no JSON Schema form, or a `type` that JSON Schema lacks
 */
export function requireJsonSchema(schema: unknown, direction: Direction): JsonSchema {
  if (!isStandardSchema(schema)) return requireTypes(toJsonSchema(schema, direction));
  const own = attempt(() => schema['~standard'].jsonSchema?.[direction]({ target: TARGET }));
  const converted = own ?? convertByVendor(schema, direction, rejectPart);
  if (isRecord(converted)) return requireTypes(converted);
  throw new TypeError(`no converter is installed for schemas of "${schema['~standard'].vendor}"`);
}

const TYPES = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'];

/** @throws {TypeError} with the JSON pointer of a `type` that JSON Schema does not have */
function requireTypes(schema: JsonSchema, keys: readonly string[] = []): JsonSchema {
  for (const type of 'type' in schema ? [schema.type].flat() : []) {
    if (TYPES.includes(String(type))) continue;
    const pointer = pointerOf([...keys, 'type']);
    throw new TypeError(`"${pointer}" is "${String(type)}", expected one of ${TYPES.join(', ')}`);
  }
  return mapSubschemas(schema, (part, path) => requireTypes(part, [...keys, ...path]));
}

/** What to do with a part that JSON Schema lacks: a name of its type, and its path if known. */
type OnMissing = (type: string, path?: readonly PropertyKey[]) => void;

function rejectPart(type: string, path: readonly PropertyKey[] = []): never {
  const names = path.filter((key) => key !== 'properties').map(String);
  const at = names.length > 0 ? ` at "/${names.join('/')}"` : '';
  throw new TypeError(`the type "${type}"${at} has no JSON Schema form`);
}

/** The result of `convert`; `undefined` if it throws because JSON Schema lacks the type. */
function attempt(convert: () => unknown): JsonSchema | undefined {
  try {
    const converted = convert();
    return isRecord(converted) ? converted : undefined;
  } catch {
    return undefined;
  }
}

function convertByVendor(
  schema: Convertible,
  direction: Direction,
  onMissing: OnMissing = () => {},
): unknown {
  switch (schema['~standard'].vendor) {
    case 'zod':
      return schema._zod === undefined ? undefined : convertZod(schema, direction, onMissing);
    case 'valibot':
      return convertValibot(schema, direction, onMissing);
    case 'arktype':
      return convertArktype(schema, onMissing);
    default:
      return undefined;
  }
}

/** The argument of zod's `override`. */
interface ZodPart {
  readonly zodSchema: { readonly _zod: { readonly def: { readonly type: string } } };
  readonly jsonSchema: Record<string, unknown>;
  readonly path: readonly PropertyKey[];
}

/** The types of zod without a JSON Schema form. */
const ZOD_ONLY = [
  'bigint',
  'symbol',
  'undefined',
  'void',
  'map',
  'set',
  'transform',
  'nan',
  'custom',
  'function',
];

function convertZod(schema: Convertible, direction: Direction, onMissing: OnMissing): unknown {
  const options = {
    target: TARGET,
    io: direction,
    unrepresentable: 'any',
    override({ zodSchema, jsonSchema, path }: ZodPart): void {
      const { type } = zodSchema._zod.def;
      if (type === 'date') Object.assign(jsonSchema, DATE_TIME);
      else if (ZOD_ONLY.includes(type)) onMissing(type, path);
    },
  } as const;
  if (schema.toJSONSchema) return schema.toJSONSchema(options);
  // Schemas of zod/mini have no methods, so the function of the library is used.
  return loadZod().toJSONSchema(schema as never, options);
}

/** `buildService` of `@fw/service` includes it only for schemas of zod/mini. */
function loadZod(): typeof import('zod/v4/core') {
  try {
    return require('zod/v4/core');
  } catch {
    return loadOptional('zod/v4/core', { user: 'schemas of zod/mini', from: import.meta.url });
  }
}

function convertValibot(schema: Convertible, direction: Direction, onMissing: OnMissing): unknown {
  return loadValibot().toJsonSchema(schema as never, {
    target: TARGET,
    typeMode: direction,
    errorMode: 'ignore',
    overrideSchema: ({ valibotSchema, errors }) => {
      if (valibotSchema.type === 'date') return { ...DATE_TIME, type: 'string' };
      if (errors) onMissing(valibotSchema.type);
      return undefined;
    },
  });
}

function loadValibot(): typeof import('@valibot/to-json-schema') {
  try {
    return require('@valibot/to-json-schema');
  } catch {
    const user = 'schemas of valibot';
    return loadOptional('@valibot/to-json-schema', { user, from: import.meta.url });
  }
}

/** Types of arktype that JSON Schema lacks: dates become strings, others `{}`. */
function convertArktype(schema: Convertible, onMissing: OnMissing): unknown {
  const fallback = ({ code, base }: { readonly code: string; readonly base: object }) => {
    if (code === 'date') return { ...base, ...DATE_TIME };
    onMissing(code);
    return base;
  };
  return schema.toJsonSchema?.({ fallback });
}
