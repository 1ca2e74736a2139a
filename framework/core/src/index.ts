export { type AnswerErrorOptions, unmatchedStatus } from './answer.ts';
export {
  type Application,
  type ApplicationOptions,
  createApp,
  type Plugin,
  type Routable,
} from './application.ts';
export type { Body } from './body.ts';
export type { CloseOptions } from './close.ts';
export { type Chain, compose, DONE } from './compose.ts';
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
export { answerError, onSent, sendReturned, setParts, setRoute } from './extension.ts';
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
} from './http-error.ts';
export { type ListeningServer, type ListenOptions, listen } from './listen.ts';
export type { Logger, PinoLogger } from './logger.ts';
export { annotate, metadataOf, type RouteMetadata } from './metadata.ts';
export { decodeSegment, foldCase, normalizePath, readPattern } from './path.ts';
export { createPrefixTest } from './prefix.ts';
export { statusOf, titleOf } from './problem.ts';
export { markFactories, markPlugin, requireMiddleware } from './require-middleware.ts';
export type { TrustProxy } from './trust-proxy.ts';
