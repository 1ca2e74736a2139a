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
export {
  type DocumentedAnswer,
  type DocumentedOperation,
  documented,
} from './documented.ts';
export { createDrain, type Drain } from './drain.ts';
export { createHealth, type Health, type HealthOptions } from './health.ts';
export { createLogger, type LoggerOptions } from './logging.ts';
export { negotiate } from './negotiate.ts';
export { type Page, readPage } from './pagination.ts';
export { etagOf, isNotModified, requireMatch, staleState } from './preconditions.ts';
export { runService, type Service, type ServiceDefinition } from './run-service.ts';
export { createServiceApp, type ServiceEdge } from './service-app.ts';
export {
  type ServiceConfig,
  type StoreConfig,
  serviceVariables,
  storeVariables,
} from './service-variables.ts';
export { type SupersededOptions, superseded, V1_DEPRECATED_SINCE } from './superseded.ts';
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
