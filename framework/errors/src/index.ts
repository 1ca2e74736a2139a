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
} from '@fw/core';
export { type ErrorHandlerOptions, errorHandler, notFoundHandler } from './error-handler.ts';
