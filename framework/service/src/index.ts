export { type DocumentsOptions, documents } from './app/documents.ts';
export type { SheddingLimits } from './app/protect.ts';
export { NOT_ACCEPTABLE, onlyJson, STORE_UNAVAILABLE } from './app/responses.ts';
export { createServiceApp, type ServiceRuntime } from './app/service-app.ts';
export { createServiceClient, type ServiceClientOptions } from './client/service-client.ts';
export {
  type AnyVariables,
  describeVariables,
  type VariableDescription,
} from './config/describe-variables.ts';
export {
  type ConfigOf,
  type ConfigRule,
  readConfig,
  type Variables,
} from './config/read-config.ts';
export { readInteger } from './config/read-integer.ts';
export {
  postgresOptions,
  type ServiceConfig,
  type StoreConfig,
  serviceVariables,
  storeVariables,
} from './config/service-variables.ts';
export { day, integer, oneOf, url } from './config/variables.ts';
export type { Check } from './health/check.ts';
export { type Cursor, createCursor } from './lists/cursor.ts';
export {
  type IntegerRange,
  integerQuery,
  integerText,
  numberedPageQuery,
  pageOf,
  pageQuery,
} from './lists/page-schemas.ts';
export { type Page, readPage, type Slice } from './lists/pagination.ts';
export {
  createLogger,
  type LoggerOptions,
  type RequestEntry,
  type ServiceLogger,
} from './logging/logging.ts';
export type { ClientRequest } from './metrics/client-requests.ts';
export {
  type CountedLimiter,
  createMetrics,
  type Metrics,
  type MetricsOptions,
} from './metrics/metrics.ts';
export type { RequestResult } from './metrics/request-metrics.ts';
export type { Command, CommandTools } from './program/command-line.ts';
export { runService, type Service, type ServiceDefinition } from './program/run-service.ts';
export { Markup, markup, type Part } from './text/markup.ts';
export { hasAtMost, plainText } from './text/plain-text.ts';
export type { ApiVersion, VersionDeprecation } from './versions/api-version.ts';
export {
  type MountedVersion,
  type MountVersionsOptions,
  mountVersions,
} from './versions/mount-versions.ts';
