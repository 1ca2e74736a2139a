export { V1_DEPRECATED_SINCE } from './api-versions.ts';
export type { Check } from './check.ts';
export type { Command, CommandTools } from './command-line.ts';
export {
  type AnyVariables,
  type ConfigOf,
  type ConfigRule,
  readConfig,
  type Variables,
} from './config.ts';
export { type Cursor, createCursor } from './cursor.ts';
export { describeVariables, type VariableDescription } from './describe-variables.ts';
export { type DocumentsOptions, documents } from './documents.ts';
export { createDrain, type Drain } from './drain.ts';
export { createHealth, type Health, type HealthOptions } from './health.ts';
export { jsonTime } from './json-time.ts';
export {
  createLogger,
  type LoggerOptions,
  openLogger,
  type RequestEntry,
  type ServiceLogger,
} from './logging.ts';
export { Markup, markup, type Part } from './markup.ts';
export { createMetrics, type Metrics } from './metrics.ts';
export {
  type IntegerRange,
  integerQuery,
  integerText,
  numberedPageQuery,
  pageOf,
  pageQuery,
} from './page-schemas.ts';
export { type Page, readPage } from './pagination.ts';
export { hasAtMost, plainText } from './plain-text.ts';
export { readInteger } from './read-integer.ts';
export { runService, type Service, type ServiceDefinition } from './run-service.ts';
export { createServiceApp, type ServiceEdge } from './service-app.ts';
export {
  type CallContext,
  type CallFailure,
  createServiceClient,
  ServiceCallError,
  type ServiceClient,
  type ServiceClientOptions,
} from './service-client.ts';
export {
  postgresOptions,
  type ServiceConfig,
  type StoreConfig,
  serviceVariables,
  storeVariables,
} from './service-variables.ts';
export type { SheddingLimits } from './shedding.ts';
export { startTracing, type Tracing, type TracingOptions } from './tracing.ts';
export {
  integer,
  oneOf,
  optionalText,
  secret,
  text,
  url,
  type VariableFacts,
  variable,
} from './variable.ts';
