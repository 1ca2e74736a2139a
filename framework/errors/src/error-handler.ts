import { HttpError, type Middleware, markFactories, NotFoundError } from '@fw/core';
import { answerError, DONE, unmatchedStatus } from '@fw/core/extension';
import { aBoolean, readOptions } from '@fw/core/options';

export interface ErrorHandlerOptions {
  /** Adds the stack, line by line, to every answer, 5xx included. Refused in production. Default false. */
  readonly includeStack?: boolean;
}

/**
 * Answers what anything after it throws, as a problem by RFC 9457, so that middleware before it
 * finds an answer. Register it first.
 *
 * @throws {TypeError} if an option is unknown or has a value that it cannot have
 */
export function errorHandler(options: ErrorHandlerOptions = {}): Middleware {
  const { includeStack = false } = readOptions('errorHandler()', options, {
    includeStack: aBoolean,
  });
  const isProduction = process.env.NODE_ENV === 'production';
  if (includeStack && isProduction) {
    process.emitWarning('errorHandler: includeStack is ignored while NODE_ENV is "production"');
  }
  const settings = { includeStack: includeStack && !isProduction };
  return (ctx, next) => {
    const running = next();
    if (running === DONE) return DONE;
    return running.then(undefined, (error: unknown) => answerError(ctx, error, settings));
  };
}

/** Answers what nothing before it has answered: 404, or 501 for a method nobody knows. Register it last. */
export function notFoundHandler(): Middleware {
  return (ctx, next) => {
    if (ctx.responded || ctx.route) return next();
    const status = unmatchedStatus(ctx.method);
    throw status === 404
      ? new NotFoundError(`No route matches ${ctx.method} on this path`)
      : new HttpError(status);
  };
}

markFactories({ errorHandler, notFoundHandler });
