export type { AllowedMethodsOptions } from './allowed-methods.ts';
export { type EndpointMetadata, endpoint } from './endpoint.ts';
export type { ParamNames, ParamsOf } from './pattern.ts';
export type { Handler, Validator } from './register.ts';
export {
  type AnyRouter,
  createRouter,
  type RouteDefinition,
  type RouteMatch,
  type Router,
  type RouterOptions,
} from './router.ts';
