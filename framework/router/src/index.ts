export { type EndpointMetadata, endpoint } from './endpoint.ts';
export type { ParamNames, ParamsOf } from './pattern.ts';
export {
  type AnyRouter,
  createRouter,
  type Handler,
  type RouteDefinition,
  type RouteMatch,
  type Router,
  type RouterOptions,
} from './router.ts';
