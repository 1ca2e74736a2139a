import { annotate, HttpError, type Middleware, markFactories, NotFoundError } from '@fw/core';
import {
  hasRun,
  isProduction,
  respondWithError,
  unmatchedStatus,
  warnOnce,
} from '@fw/core/extension';
import { aBoolean, readOptions } from '@fw/core/options';

export interface ErrorHandlerOptions {
  /**
   * Adds the stack to error responses with a status from 500 on, as a list of lines. Ignored with a warning
   * if `NODE_ENV` is `production`. Default false.
   */
  readonly includeStack?: boolean;
}

/**
 * Sends errors thrown by later middleware as RFC 9457 problems. Register it before the middleware whose
 * errors it handles, usually first.
 *
 * @throws {TypeError} if an option is unknown or its value is invalid
 */
export function errorHandler(options: ErrorHandlerOptions = {}): Middleware {
  const { includeStack = false } = readOptions('errorHandler()', options, {
    includeStack: aBoolean,
  });
  if (includeStack && isProduction()) {
    process.emitWarning('errorHandler: includeStack is ignored while NODE_ENV is "production"');
  }
  const settings = { includeStack: includeStack && !isProduction() };
  const handle: Middleware = (ctx, next) => {
    const running = next();
    if (hasRun(running)) return running;
    return running.then(undefined, (error: unknown) => respondWithError(ctx, error, settings));
  };
  return annotate(handle, {
    onReady: (log, { isAfterRoutes }) => {
      if (!isAfterRoutes) return;
      const message =
        'errorHandler() was added after routes, whose errors it does not handle: add it first';
      warnOnce(log, message, message);
    },
  });
}

/** Responds to requests without a matching route: 404, or 501 for an unknown method. Register it last. */
export function notFoundHandler(): Middleware {
  const respond: Middleware = (ctx, next) => {
    if (ctx.responded || ctx.route) return next();
    const status = unmatchedStatus(ctx.method);
    throw status === 404
      ? new NotFoundError(`No route matches ${ctx.method} on this path`)
      : new HttpError(status);
  };
  return annotate(respond, {
    onReady: (log, { isBeforeRoutes }) => {
      if (!isBeforeRoutes) return;
      const message =
        'notFoundHandler() was added before routes, which no request reaches: add it last';
      warnOnce(log, message, message);
    },
  });
}

markFactories({ errorHandler, notFoundHandler });
