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
export type { LogFields, Logger, PinoLogger } from './logger.ts';
export { annotate, markFactories, markPlugin, type RouteMetadata } from './middleware.ts';
export type { Query, QueryValue } from './request/request-target.ts';
export type { TrustProxy } from './request/trust-proxy.ts';
export type { LogMethod, RequestLogger } from './request-log.ts';
export type { Body } from './response/body.ts';
export { createPartSerializer } from './response/contract.ts';
export {
  BadRequestError,
  ConflictError,
  ForbiddenError,
  HttpError,
  type HttpErrorOptions,
  MethodNotAllowedError,
  NotFoundError,
  PayloadTooLargeError,
  PreconditionFailedError,
  ServiceUnavailableError,
  TooManyRequestsError,
  UnauthorizedError,
  UnprocessableContentError,
  UnsupportedMediaTypeError,
  ValidationError,
  type ValidationIssue,
} from './response/http-error.ts';
export { onSent } from './response/write-response.ts';
export type { DeclaredError } from './router/declared-errors.ts';
export { type EndpointMetadata, type EndpointOptions, endpoint } from './router/endpoint.ts';
export type { ParamNames, ParamsOf } from './router/pattern.ts';
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
} from './router/response-types.ts';
export { createRouter } from './router/router.ts';
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
} from './router/types.ts';
export type { CloseOptions } from './server/close.ts';
export type { TlsOptions } from './server/create-server.ts';
export { type ListeningServer, type ListenOptions, listen } from './server/listen.ts';
