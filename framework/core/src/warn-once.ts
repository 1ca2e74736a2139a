import type { Context } from './context.ts';
import type { Logger } from './logger.ts';

/** Whether checks and warnings for developers are off. */
export function isProduction(): boolean {
  return process.env.NODE_ENV === 'production';
}

/** The subjects of the warnings that each logger got. */
const warned = new WeakMap<Logger, Set<unknown>>();
const MAX_WARNINGS = 1_000;

/** Logs a warning about `subject` unless one was logged before. */
export function warnOnce(log: Logger, subject: unknown, message: string): void {
  const subjects = warned.get(log) ?? new Set();
  if (subjects.has(subject) || subjects.size >= MAX_WARNINGS) return;
  warned.set(log, subjects.add(subject));
  log.warn(message);
}

/** Logs a warning about the route of `ctx` unless one with this problem was logged before. */
export function warnOfRoute(
  ctx: Pick<Context, 'method' | 'path' | 'route' | 'log'>,
  problem: string,
  remedy: string,
): void {
  const { method, route, path, log } = ctx;
  const subject = `${route ? `${method} ${route.path}` : ''} ${problem}`;
  warnOnce(log, subject, `${method} ${route?.path ?? path} ${problem}: ${remedy}`);
}
