export {
  integer,
  oneOf,
  optionalText,
  readConfig,
  type ServiceConfig,
  serviceVariables,
  text,
} from './config.ts';
export { type Cursor, createCursor } from './cursor.ts';
export {
  type DocumentedAnswer,
  type DocumentedOperation,
  documented,
} from './documented.ts';
export { createDrain, type Drain } from './drain.ts';
export { type Check, createHealthApp, type HealthOptions } from './health.ts';
export { createLogger, type LoggerOptions } from './logging.ts';
export { negotiate } from './negotiate.ts';
export { type Page, readPage } from './pagination.ts';
export { etagOf, isNotModified, requireMatch, staleState } from './preconditions.ts';
export { runService, type Service, type ServiceDefinition } from './run-service.ts';
export { createServiceApp, type ServiceEdge } from './service-app.ts';
export { type SupersededOptions, superseded, V1_DEPRECATED_SINCE } from './superseded.ts';
