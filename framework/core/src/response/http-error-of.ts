import {
  BadRequestError,
  ConflictError,
  ForbiddenError,
  HttpError,
  NotFoundError,
  PayloadTooLargeError,
  PreconditionFailedError,
  ServiceUnavailableError,
  TooManyRequestsError,
  UnprocessableContentError,
  UnsupportedMediaTypeError,
} from './http-error.ts';

/** Classes whose constructor only needs a message; 401 also needs a scheme, 405 the allowed methods. */
const CLASSES = new Map(
  [
    BadRequestError,
    ForbiddenError,
    NotFoundError,
    ConflictError,
    PreconditionFailedError,
    PayloadTooLargeError,
    UnsupportedMediaTypeError,
    UnprocessableContentError,
    TooManyRequestsError,
    ServiceUnavailableError,
  ].map((Type) => [new Type().status, Type]),
);

/** An error of the class for `status`; an `HttpError` if no class fits. */
export function httpErrorOf(status: number, message?: string): HttpError {
  const Type = CLASSES.get(status);
  return Type ? new Type(message) : new HttpError(status, message);
}
