/** The values of `code`, and what a client can do about each. */
export const CODES: readonly (readonly [number, string, string])[] = [
  [400, 'BAD_REQUEST', 'The request cannot be understood. Change it before sending it again.'],
  [
    400,
    'INVALID_JSON',
    'The body is not JSON, or not accepted JSON: too deep, or with a reserved key.',
  ],
  [
    400,
    'VALIDATION_FAILED',
    'Parts of the request do not fit their schema; errors names each one.',
  ],
  [401, 'UNAUTHORIZED', 'Send credentials as WWW-Authenticate describes.'],
  [403, 'FORBIDDEN', 'These credentials do not allow it; others may.'],
  [404, 'NOT_FOUND', 'Not found: no such resource, or no such path.'],
  [405, 'METHOD_NOT_ALLOWED', 'The path allows only the methods in Allow.'],
  [406, 'NOT_ACCEPTABLE', 'None of the types in Accept is available.'],
  [409, 'CONFLICT', 'The request conflicts with what is stored. Read it again, then decide.'],
  [412, 'PRECONDITION_FAILED', 'It was changed meanwhile: If-Match does not hold. Read it again.'],
  [413, 'PAYLOAD_TOO_LARGE', 'Send a smaller body.'],
  [415, 'UNSUPPORTED_MEDIA_TYPE', 'Send the body as one of the types in Accept.'],
  [422, 'UNPROCESSABLE_CONTENT', 'Well formed, but cannot be processed as it is.'],
  [429, 'RATE_LIMITED', 'Wait for the number of seconds in Retry-After.'],
  [500, 'INTERNAL_ERROR', 'A fault of the server. Quote requestId when you report it.'],
  [501, 'NOT_IMPLEMENTED', 'The server does not know this method at all.'],
  [
    503,
    'SERVICE_UNAVAILABLE',
    'Temporarily unavailable. Try again after the time in Retry-After, or a little later.',
  ],
];

/** The values of `type`, and their meaning. */
export const TYPES: readonly (readonly [string, string])[] = [
  ['about:blank', 'The status has no further explanation.'],
  [
    'https://iana.org/assignments/http-problem-types#quota-exceeded',
    'A limit on the number of requests was reached; the RateLimit headers contain the limit and when it ends.',
  ],
];

/** An example of an error response. */
export const SAMPLE = {
  type: 'about:blank',
  title: 'Bad Request',
  status: 400,
  detail: 'body/age: expected a number',
  code: 'VALIDATION_FAILED',
  requestId: '0b8e5b6e-3c1d-4f5a-9a53-6f1f1c9e2d47',
  errors: [{ in: 'body', pointer: '/age', detail: 'expected a number' }],
};
