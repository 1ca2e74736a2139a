export * from '@fw/core/http-error';
export { type ErrorHandlerOptions, errorHandler, notFoundHandler } from './error-handler.ts';
