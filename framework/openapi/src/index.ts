export type { DocsPage } from './docs/docs-page.ts';
export {
  type GenerateDocumentOptions,
  generateDocument,
  type OpenApiDocument,
  type OpenApiInfo,
  type PathItem,
  type Server,
} from './document.ts';
export { type OpenApiOptions, openapi } from './openapi.ts';
export type { Operation, ToJsonSchema } from './operation.ts';
export { extractPathParams, toOpenApiPath } from './paths.ts';
