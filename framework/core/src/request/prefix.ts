import type { Chain } from '../compose.ts';
import type { Middleware } from '../context.ts';
import { foldCase, readPattern } from './path.ts';

/**
 * Runs `chain` for requests to `prefix` and all paths under it.
 *
 * @throws {TypeError} if the prefix is not a path, or contains a parameter or a wildcard
 */
export function underPrefix(prefix: string, chain: Chain): Middleware {
  const action = `Cannot use middleware at "${prefix}"`;
  const pattern = readPattern(prefix, action);
  if (pattern.split('/').some((segment) => segment.startsWith(':') || segment === '*')) {
    throw new TypeError(
      `${action}: expected a prefix without parameters; a router's group() takes them`,
    );
  }
  const isUnder = createPrefixTest(pattern);
  return (ctx, next) => (isUnder(ctx.path) ? chain(ctx, next) : next());
}

/**
 * Returns a function that tests whether a path is `pattern` or under it. Compares whole segments of
 * paths in normal form, like routes; ignores case unless `caseSensitive`. A parameter matches any
 * non-empty segment.
 */
export function createPrefixTest(
  pattern: string,
  caseSensitive = false,
): (path: string) => boolean {
  const trimmed = pattern.endsWith('/') ? pattern.slice(0, -1) : pattern;
  const segments = trimmed.split('/').map((segment) => ({
    isParameter: segment.startsWith(':'),
    text: caseSensitive ? segment : foldCase(segment),
  }));
  return (path) => {
    let at = 0;
    for (const { isParameter, text } of segments) {
      const end = isParameter ? endOfSegment(path, at) : at + text.length;
      if (isParameter ? end <= at : !matchesAt(path, at, text, caseSensitive)) return false;
      if (end !== path.length && path.charCodeAt(end) !== SLASH) return false;
      at = end + 1;
    }
    return true;
  };
}

const SLASH = 0x2f;

function endOfSegment(path: string, start: number): number {
  const slash = path.indexOf('/', start);
  return slash < 0 ? path.length : slash;
}

/** Whether `path` contains `text` at `start`; `text` is in lower case unless `caseSensitive`. */
function matchesAt(path: string, start: number, text: string, caseSensitive: boolean): boolean {
  if (path.length < start + text.length) return false;
  for (let at = 0; at < text.length; at++) {
    const code = path.charCodeAt(start + at);
    const isUpper = !caseSensitive && code >= 0x41 && code <= 0x5a;
    if ((isUpper ? code + 32 : code) !== text.charCodeAt(at)) return false;
  }
  return true;
}
