export {
  type Application,
  type ApplicationOptions,
  createApp,
  type Plugin,
  type Routable,
} from './application.ts';
export { type Chain, compose } from './compose.ts';
export type {
  Context,
  MatchedRoute,
  Middleware,
  Next,
  Parts,
  Query,
  QueryValue,
  State,
} from './context.ts';
export { onSent } from './extension.ts';
export type { Logger, PinoLogger } from './logger.ts';
export { annotate, markFactories, markPlugin, type RouteMetadata } from './middleware.ts';
export type { BodyStream, StreamOptions } from './request/body-stream.ts';
export type { TrustProxy } from './request/trust-proxy.ts';
export * from './response/http-error.ts';
export type { Body } from './response/write-response.ts';
export type { CloseOptions } from './server/connections.ts';
export type { TlsOptions } from './server/create-server.ts';
export { type ListeningServer, type ListenOptions, listen } from './server/listen.ts';
