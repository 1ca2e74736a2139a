export {
  type Application,
  type ApplicationOptions,
  createApp,
  type Plugin,
  type Routable,
} from './application.ts';
export { type Chain, compose } from './compose.ts';
export type {
  BodyStream,
  Context,
  MatchedRoute,
  Middleware,
  Next,
  Parts,
  State,
  StreamOptions,
} from './context.ts';
export type { Logger, PinoLogger } from './logger.ts';
export { annotate, markFactories, markPlugin, type RouteMetadata } from './middleware.ts';
export type { Query, QueryValue } from './request/request-target.ts';
export type { TrustProxy } from './request/trust-proxy.ts';
export type { Body } from './response/body.ts';
export { createPartSerializer } from './response/contract.ts';
export * from './response/http-error.ts';
export { onSent } from './response/write-response.ts';
export * from './router/index.ts';
export type { CloseOptions } from './server/close.ts';
export type { TlsOptions } from './server/create-server.ts';
export { type ListeningServer, type ListenOptions, listen } from './server/listen.ts';
