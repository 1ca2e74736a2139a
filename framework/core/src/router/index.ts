export { createRouter } from './create-router.ts';
export type { DeclaredError } from './declared-errors.ts';
export { type EndpointMetadata, type EndpointOptions, endpoint } from './endpoint.ts';
export type { ParamNames, ParamsOf } from './pattern.ts';
export type {
  CodesByStatus,
  DeclaredCodes,
  DeclaredResponse,
  ErrorsOf,
  NoParts,
  ResponseDescription,
  ResponseOf,
  Returned,
  Sent,
} from './response-types.ts';
export type {
  AllowedMethodsOptions,
  AnyRouter,
  RouteDefinition,
  RouteMatch,
  Router,
  RouterOptions,
} from './router.ts';
export type {
  Guard,
  Handler,
  Register,
  RegisterMethod,
  Replace,
  RouteParts,
  ValidatedBy,
  Validator,
} from './types.ts';
