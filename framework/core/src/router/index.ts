export { createRouter } from './create-router.ts';
export type {
  CodesByStatus,
  DeclaredCodes,
  DeclaredError,
  ErrorsOf,
} from './declared-errors.ts';
export {
  type DeclaredResponse,
  type EndpointMetadata,
  type EndpointOptions,
  endpoint,
  type ResponseDescription,
  type ResponseOf,
  type Returned,
  type Sent,
} from './endpoint.ts';
export type { ParamNames, ParamsOf } from './pattern.ts';
export type {
  Guard,
  Handler,
  NoParts,
  Register,
  RegisterMethod,
  Replace,
  RouteParts,
  ValidatedBy,
  Validator,
} from './register.ts';
export type {
  AllowedMethodsOptions,
  AnyRouter,
  RouteDefinition,
  RouteMatch,
  Router,
  RouterOptions,
} from './router.ts';
