import { expect, test } from 'vitest';

import {
  BadRequestError,
  ConflictError,
  ForbiddenError,
  HttpError,
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
} from './http-error.ts';

test.each([
  [BadRequestError, 400, 'Bad Request'],
  [UnauthorizedError, 401, 'Unauthorized'],
  [ForbiddenError, 403, 'Forbidden'],
  [NotFoundError, 404, 'Not Found'],
  [ConflictError, 409, 'Conflict'],
  [PreconditionFailedError, 412, 'Precondition Failed'],
  [PayloadTooLargeError, 413, 'Content Too Large'],
  [UnsupportedMediaTypeError, 415, 'Unsupported Media Type'],
  [UnprocessableContentError, 422, 'Unprocessable Content'],
  [TooManyRequestsError, 429, 'Too Many Requests'],
  [ServiceUnavailableError, 503, 'Service Unavailable'],
])('%o is an HttpError with status %i', (Type, status, title) => {
  const cause = new Error('the cause');

  const plain = new Type();
  const error = new Type('own', { cause, code: 'OWN', type: 'urn:own' });

  expect(plain).toBeInstanceOf(HttpError);
  expect(plain).toMatchObject({ status, message: title, name: Type.name, expose: status < 500 });
  expect(error).toMatchObject({ message: 'own', cause, code: 'OWN', type: 'urn:own' });
});

test('MethodNotAllowedError and UnauthorizedError have the header that their status requires', () => {
  expect(new MethodNotAllowedError(['GET', 'HEAD']).headers).toEqual({ Allow: 'GET, HEAD' });
  expect(new UnauthorizedError().headers).toEqual({ 'WWW-Authenticate': 'Bearer' });
  expect(
    new UnauthorizedError('who?', { headers: { 'WWW-Authenticate': 'Basic realm="a"' } }).headers,
  ).toEqual({ 'WWW-Authenticate': 'Basic realm="a"' });
});

test.each([
  [400, true],
  [499, true],
  [500, false],
  [599, false],
])('HttpError with status %i has expose %s', (status, expose) => {
  expect(new HttpError(status)).toMatchObject({ status, expose });
});

test.each([399, 600, 200, 404.5, Number.NaN])('HttpError rejects status %d', (status) => {
  expect(() => new HttpError(status)).toThrow(
    new RangeError(`Cannot create an HTTP error with status "${status}": expected 400 to 599`),
  );
});

test('ValidationError lists its issues', () => {
  const issues = [
    { in: 'body', pointer: '/age', detail: 'expected a number' },
    { in: 'query', pointer: '', detail: 'expected page' },
  ] as const;

  const error = new ValidationError(issues);

  expect(error).toMatchObject({ status: 400, code: 'VALIDATION_FAILED', errors: issues });
  expect(error.message).toBe('body/age: expected a number; query: expected page');
  expect(new ValidationError(issues, { status: 422 }).status).toBe(422);
});
