export { type DocumentsOptions, documents } from './app/documents.ts';
export type { SheddingLimits } from './app/load-shedding.ts';
export { createServiceApp, type ServiceRuntime } from './app/service-app.ts';
export { createServiceClient, type ServiceClientOptions } from './calls/service-client.ts';
export {
  type ConfigOf,
  type ConfigRule,
  readConfig,
  type Variables,
} from './config/read-config.ts';
export {
  postgresOptions,
  type ServiceConfig,
  type StoreConfig,
  serviceVariables,
  storeVariables,
} from './config/service-variables.ts';
export {
  type AnyVariables,
  day,
  describeVariables,
  integer,
  oneOf,
  readInteger,
  url,
  type VariableDescription,
} from './config/variables.ts';
export type { Check } from './health/health.ts';
export { type Cursor, createCursor, toSearchParams } from './lists/cursor.ts';
export {
  type IntegerRange,
  integerQuery,
  integerText,
  numberedPageQuery,
  type Page,
  type PageSizes,
  pageOf,
  pageQuery,
  readPart,
  type Slice,
} from './lists/pages.ts';
export {
  createLogger,
  type LoggerOptions,
  type LogOutput,
  type RequestEntry,
  type ServiceLogger,
} from './logging/logging.ts';
export {
  type CountedLimiter,
  createMetrics,
  type Metrics,
  type MetricsOptions,
} from './metrics/metrics.ts';
export type { ClientRequest, RequestResult } from './metrics/request-metrics.ts';
export { type Command, type CommandTools, UsageError } from './program/command-line.ts';
export { runService, type Service, type ServiceDefinition } from './program/run-service.ts';
export { Markup, markup, type Part } from './text/markup.ts';
export { hasAtMost, plainText } from './text/plain-text.ts';
export {
  type AuthConfig,
  authVariables,
  INVALID_TOKENS_PER_MINUTE,
  requireTokenKey,
  type TokenConfig,
  type TokenOptions,
  tokenOptionsOf,
  tokenVariables,
} from './tokens/token-variables.ts';
export {
  type ApiVersion,
  type MountedVersion,
  type MountVersionsOptions,
  mountVersions,
  retirementOf,
  type VersionConfig,
  type VersionDeprecation,
  versionVariables,
} from './versions/mount-versions.ts';
