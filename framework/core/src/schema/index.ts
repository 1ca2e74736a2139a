export {
  type Direction,
  type JsonSchema,
  requireJsonSchema,
  toJsonSchema,
} from './json-schema.ts';
export {
  isStandardSchema,
  type OutputOf,
  type SchemaIssue,
  type SchemaResult,
  type StandardSchema,
} from './standard-schema.ts';
