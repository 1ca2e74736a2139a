import type { Chain } from '../compose.ts';
import type { Middleware } from '../context.ts';
import { foldCase, readPattern } from './path.ts';

/**
 * Runs `chain` for requests at `prefix` and below it, and goes on at once for others.
 *
 * @throws {TypeError} if the prefix is no path, or holds a parameter or a wildcard
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
 * Tells whether a normal path is `pattern` or lies below it. It compares as routes do: in normal
 * form, whatever the case unless `caseSensitive`, and only up to the end of a segment; a parameter
 * stands for any segment.
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
      if (isParameter ? end <= at : !standsAt(path, at, text, caseSensitive)) return false;
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

/** Whether `text`, in lower case unless `caseSensitive`, stands in `path` at `start`. */
function standsAt(path: string, start: number, text: string, caseSensitive: boolean): boolean {
  if (path.length < start + text.length) return false;
  for (let at = 0; at < text.length; at++) {
    const code = path.charCodeAt(start + at);
    const isUpper = !caseSensitive && code >= 0x41 && code <= 0x5a;
    if ((isUpper ? code + 32 : code) !== text.charCodeAt(at)) return false;
  }
  return true;
}
