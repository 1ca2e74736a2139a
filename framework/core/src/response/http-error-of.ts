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

/** The classes that need nothing but a message; 401 and 405 also need a scheme or the methods allowed. */
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

/** An error of the class for `status`; an `HttpError` if there is none. */
export function httpErrorOf(status: number, message?: string): HttpError {
  const Type = CLASSES.get(status);
  return Type ? new Type(message) : new HttpError(status, message);
}
