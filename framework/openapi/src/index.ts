export type { DocsPage } from './docs/docs-page.ts';
export {
  type GenerateDocumentOptions,
  generateDocument,
  type OpenApiDocument,
  type OpenApiInfo,
  type PathItem,
  type Server,
} from './document.ts';
export { type DocumentedOperation, type DocumentedResponse, documented } from './documented.ts';
export type { Direction, JsonSchema, ToJsonSchema } from './json-schema.ts';
export type { ResponseMetadata } from './metadata.ts';
export { type OpenApiOptions, openapi } from './openapi.ts';
export type { Operation } from './operation.ts';
export { extractPathParams, toOpenApiPath } from './paths.ts';
