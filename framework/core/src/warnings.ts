import type { Logger } from './logger.ts';
import { RequestLog } from './request-log.ts';

/** Whether checks and warnings for developers are off. */
export function isProduction(): boolean {
  return process.env.NODE_ENV === 'production';
}

/** The subjects of the warnings that each logger got. */
const warned = new WeakMap<Logger, Set<unknown>>();
const MAX_WARNINGS = 1_000;

/**
 * Logs a warning about `subject` unless one was logged before. It is not about one request: with `ctx.log`,
 * the logger of the application gets it.
 */
export function warnOnce(logger: Logger, subject: unknown, message: string): void {
  const log = logger instanceof RequestLog ? logger.application : logger;
  const subjects = warned.get(log) ?? new Set();
  if (subjects.has(subject) || subjects.size >= MAX_WARNINGS) return;
  warned.set(log, subjects.add(subject));
  log.warn(message);
}

/** What a warning names of a request, and its logger. */
export interface WarnedRequest {
  readonly method: string;
  readonly path: string;
  readonly route: { readonly path: string } | undefined;
  readonly log: Logger;
}

/** Logs a warning about the route of a request unless one with this problem was logged before. */
export function warnOfRoute(
  { method, route, path, log }: WarnedRequest,
  problem: string,
  remedy: string,
): void {
  const subject = `${route ? `${method} ${route.path}` : ''} ${problem}`;
  warnOnce(log, subject, `${method} ${route?.path ?? path} ${problem}: ${remedy}`);
}
