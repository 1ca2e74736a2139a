export type { AllowedMethodsOptions } from './allowed-methods.ts';
export { createRouter } from './create-router.ts';
export type { DeclaredResponse, ResponseDescription } from './declared-response.ts';
export { type EndpointMetadata, type EndpointOptions, endpoint } from './endpoint.ts';
export type { ParamNames, ParamsOf } from './pattern.ts';
export type { Handler, NoParts, Replace, Validator } from './register.ts';
export type { AnyRouter, RouteDefinition, RouteMatch, Router, RouterOptions } from './router.ts';
