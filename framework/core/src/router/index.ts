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
export { createRouter } from './router.ts';
export type {
  AllowedMethodsOptions,
  AnyRouter,
  Guard,
  Handler,
  Register,
  RegisterMethod,
  Replace,
  RouteDefinition,
  RouteMatch,
  RouteParts,
  Router,
  RouterOptions,
  ValidatedBy,
  Validator,
} from './types.ts';
