export type { AllowedMethodsOptions } from './allowed-methods.ts';
export { createRouter } from './create-router.ts';
export type { DeclaredResponse, ResponseDescription } from './endpoint.ts';
export { type EndpointMetadata, type EndpointOptions, endpoint } from './endpoint.ts';
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
export type { ResponseOf, Returned, Sent } from './response-type.ts';
export type { AnyRouter, RouteDefinition, RouteMatch, Router, RouterOptions } from './router.ts';
