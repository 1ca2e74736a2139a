import { createApp, type Middleware } from '@fw/core';
import { recordLog, request } from '@fw/core/testing';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { type ErrorHandlerOptions, errorHandler, notFoundHandler } from './error-handler.ts';
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
} from './index.ts';

/** Sends one request to an application whose handler throws `thrown`. */
async function responseTo(thrown: unknown, options?: ErrorHandlerOptions) {
  const { logger, errors } = recordLog();
  const app = createApp({ logger })
    .use(errorHandler(options))
    .use(() => {
      throw thrown;
    });
  const response = await request(app, '/secret', { headers: { 'X-Request-Id': 'r-1' } });
  return { response, body: (await response.json()) as Record<string, unknown>, errors };
}

/** The error that the middleware before `middleware` catches. */
async function caughtFrom(middleware: Middleware): Promise<unknown> {
  let caught: unknown;
  const app = createApp().use(async (ctx, next) => {
    await next().catch((error: unknown) => {
      caught = error;
    });
    ctx.send('');
  }, middleware);
  await request(app, '/');
  return caught;
}

describe('ctx.throw', () => {
  test.each([
    [400, BadRequestError],
    [403, ForbiddenError],
    [404, NotFoundError],
    [409, ConflictError],
    [412, PreconditionFailedError],
    [413, PayloadTooLargeError],
    [415, UnsupportedMediaTypeError],
    [422, UnprocessableContentError],
    [429, TooManyRequestsError],
    [503, ServiceUnavailableError],
  ])('of %i throws the class for this status', async (status, Type) => {
    const error = await caughtFrom((ctx) => ctx.throw(status, 'because'));

    expect(error).toBeInstanceOf(Type);
    expect(error).toBeInstanceOf(HttpError);
    expect(error).toMatchObject({ status, message: 'because', name: Type.name });
  });

  test.each([
    [401, 'Unauthorized'],
    [405, 'Method Not Allowed'],
    [418, "I'm a Teapot"],
    [500, 'Internal Server Error'],
  ])('of %i throws an HttpError without additional headers', async (status, message) => {
    const error = await caughtFrom((ctx) => ctx.throw(status));

    expect(error).toBeInstanceOf(HttpError);
    expect(error).toMatchObject({ status, message, name: 'HttpError', headers: undefined });
  });
});

test('a malformed request is a BadRequestError in the outermost middleware', async () => {
  let caught: unknown;
  const outermost: Middleware = async (_ctx, next) => {
    await next().catch((error: unknown) => {
      caught = error;
      throw error;
    });
  };

  const response = await request(createApp({ outermost }), '/?a=%zz');

  expect(response.status).toBe(400);
  expect(caught).toBeInstanceOf(BadRequestError);
});

describe('an error response', () => {
  test('is an RFC 9457 problem with the message and the request id', async () => {
    const { response, body, errors } = await responseTo(new NotFoundError('User "42" not found'));

    expect(response.status).toBe(404);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(body).toEqual({
      type: 'about:blank',
      title: 'Not Found',
      status: 404,
      detail: 'User "42" not found',
      code: 'NOT_FOUND',
      requestId: 'r-1',
    });
    expect(errors).toEqual([]);
  });

  test('has the code, type and headers of the error', async () => {
    const options = {
      code: 'EMAIL_TAKEN',
      type: 'urn:email-taken',
      headers: { 'X-Hint': 'login' },
    };

    const { response, body } = await responseTo(new ConflictError('taken', options));

    expect(body).toMatchObject({ code: 'EMAIL_TAKEN', type: 'urn:email-taken' });
    expect(response.headers.get('x-hint')).toBe('login');
  });

  test('with a 5xx has the reason phrase instead of the message, which is errors', async () => {
    const error = new ServiceUnavailableError('db-7 is down', {
      cause: new Error('ECONNREFUSED 10.0.0.7'),
      type: 'urn:db-7',
      headers: { 'Retry-After': '5' },
    });

    const { response, body, errors } = await responseTo(error);

    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('5');
    expect(body).toEqual({
      type: 'about:blank',
      title: 'Service Unavailable',
      status: 503,
      detail: 'Service Unavailable',
      code: 'SERVICE_UNAVAILABLE',
      requestId: 'r-1',
    });
    expect(errors).toEqual([error]);
  });

  test('is a response for middleware before the handler', async () => {
    const seen: unknown[] = [];
    const before: Middleware = async (ctx, next) => {
      await next();
      seen.push(ctx.status, ctx.responded);
      ctx.set('X-Before', 'yes');
    };
    const app = createApp().use(before, errorHandler(), async () => {
      throw new ConflictError();
    });

    const response = await request(app, '/');

    expect(seen).toEqual([409, true]);
    expect(response.headers.get('x-before')).toBe('yes');
  });
});

describe('includeStack', () => {
  const environment = process.env.NODE_ENV;
  afterEach(() => {
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
    expect(process.env.NODE_ENV).toBe(environment);
  });

  test.each([400, 401, 404, 405, 499])('does not add the stack to %i', async (status) => {
    const { body } = await responseTo(new HttpError(status), { includeStack: true });

    expect(body).toMatchObject({ status });
    expect(body.stack).toBeUndefined();
  });

  test('adds the stack with its causes to 5xx', async () => {
    const { body } = await responseTo(new Error('outer', { cause: new TypeError('inner') }), {
      includeStack: true,
    });

    expect(body.detail).toBe('Internal Server Error');
    expect(body.stack).toContain('Error: outer');
    expect(body.stack).toContain('Caused by: TypeError: inner');
  });

  test('is ignored in production, with a warning', async () => {
    vi.stubEnv('NODE_ENV', 'production');
    const warned = new Promise<Error>((resolve) => process.once('warning', resolve));

    const { body } = await responseTo(new Error('secret'), { includeStack: true });

    expect((await warned).message).toContain('includeStack is ignored');
    expect(JSON.stringify(body)).not.toContain('secret');
    expect(body.stack).toBeUndefined();
  });

  test.each([
    ['outside production', 'development', true],
    ['if it is off', 'production', false],
  ])('causes no warning %s', async (_, environment, includeStack) => {
    vi.stubEnv('NODE_ENV', environment);
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});

    errorHandler({ includeStack });

    expect(warn).not.toHaveBeenCalled();
  });
});

describe('notFoundHandler', () => {
  test('before routes causes one warning at the start', async () => {
    const { logger, lines } = recordLog();
    const app = createApp({ logger }).get('/first', () => '');
    app.use(notFoundHandler());
    app.get('/late', () => '');

    expect((await request(app, '/late')).status).toBe(404);
    await request(app, '/first');

    expect(lines).toEqual([
      'warn: notFoundHandler() was added before routes, which no request reaches: add it last',
    ]);
  });

  const app = createApp()
    .use(errorHandler())
    .use((ctx, next) => {
      if (ctx.path !== '/here') return next();
      ctx.json({});
      return next();
    })
    .use(notFoundHandler());

  test.each([
    ['GET', 404, { code: 'NOT_FOUND', detail: 'No route matches GET on this path' }],
    ['POST', 404, { code: 'NOT_FOUND', detail: 'No route matches POST on this path' }],
    ['PROPFIND', 501, { code: 'NOT_IMPLEMENTED', detail: 'Not Implemented' }], // R20
  ])('sends %s an unknown path with the status %i', async (method, status, problem) => {
    const response = await request(app, '/nowhere', { method });

    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject(problem);
  });

  test('ends the request: middleware after it does not run', async () => {
    const paths: string[] = [];
    const last = createApp()
      .use(errorHandler(), notFoundHandler())
      .use((ctx) => void paths.push(ctx.path));

    expect((await request(last, '/nowhere')).status).toBe(404);
    expect(paths).toEqual([]);
  });

  test('keeps an earlier response', async () => {
    expect((await request(app, '/here')).status).toBe(200);
  });
});

// The status without `expose` is that of another server.
test.each([
  ['a boolean expose is sent with its message', { status: 409, expose: true }, 409, 'broken'],
  ['expose false is sent without its message', { status: 403, expose: false }, 403, 'Forbidden'],
  ['no expose is a 500', { status: 404 }, 500, 'Internal Server Error'],
])('an error of another library with a status and %s', async (_, fields, status, detail) => {
  const { response, body, errors } = await responseTo(Object.assign(new Error('broken'), fields));

  expect(response.status).toBe(status);
  expect(body).toMatchObject({ detail });
  expect(errors).toHaveLength(status === 500 ? 1 : 0);
});

test.each([
  [
    { includestack: true },
    'errorHandler() has no option "includestack"; did you mean "includeStack"? Its options: includeStack',
  ],
  [
    { includeStack: 'yes' },
    'Cannot read option includeStack "yes" of errorHandler(): expected true or false',
  ],
])('errorHandler(%j) throws at start', (options, message) => {
  expect(() => errorHandler(options as object)).toThrow(new TypeError(message));
});

test('errorHandler() after routes causes one warning at start', async () => {
  const { logger, lines } = recordLog();
  const first = createApp({ logger })
    .use(errorHandler())
    .get('/', () => 'a');
  const last = createApp({ logger })
    .get('/', () => 'a')
    .use(errorHandler());

  await first.ready();
  expect(lines).toEqual([]);
  await last.ready();
  await last.ready();

  expect(lines).toEqual([
    'warn: errorHandler() was added after routes, whose errors it does not handle: add it first',
  ]);
});
