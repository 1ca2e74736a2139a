export { type Alternative, alternativesOf, isSubtype } from './alternatives.ts';
export {
  type Direction,
  type JsonSchema,
  requireJsonSchema,
  toJsonSchema,
} from './json-schema.ts';
export { type Properties, type Property, propertiesOf } from './properties.ts';
export {
  isStandardSchema,
  type OutputOf,
  type SchemaIssue,
  type SchemaResult,
  type StandardSchema,
} from './standard-schema.ts';
export { isRecord, keysOf, lookUp, mapSubschemas } from './subschemas.ts';
