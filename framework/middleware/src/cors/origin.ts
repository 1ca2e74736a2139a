import type { Context } from '@fw/core';
import { badOption } from '@fw/core/options';

/** Decides whether pages of `origin` may read the response; only `true` allows it. */
export type OriginTest = (origin: string, ctx: Context) => boolean | Promise<boolean>;

/**
 * Converts the option `origin` to a test.
 *
 * @throws {TypeError} if an entry is not an origin as browsers send it
 */
export function readOrigin(option: string | readonly string[] | OriginTest): OriginTest {
  if (option === '*') return () => true;
  if (typeof option === 'function') return option;
  const origins = typeof option === 'string' ? [option] : option;
  for (const origin of origins) requireOrigin(origin);
  if (origins.length === 0) throw badOrigin(option, 'at least one origin');
  const allowed = new Set(origins);
  return (origin) => allowed.has(origin);
}

function requireOrigin(text: unknown): void {
  const url = typeof text === 'string' ? URL.parse(text) : null;
  const origin = url && normalOrigin(url);
  if (origin === text) return;
  throw badOrigin(
    text,
    text === '*'
      ? '"*" alone, not in a list'
      : `an origin such as "https://app.example.com"${origin ? `; did you mean "${origin}"?` : ''}`,
  );
}

/** The origin of `url` in the form of the header `Origin` (RFC 6454 §6.2); `undefined` without one. */
function normalOrigin(url: URL): string | undefined {
  if (url.host === '' || url.host.includes('*') || url.protocol === 'file:') return undefined;
  // Pages of apps and extensions have origins such as capacitor://localhost.
  return url.origin === 'null' ? `${url.protocol}//${url.host}`.toLowerCase() : url.origin;
}

function badOrigin(value: unknown, expected: string): TypeError {
  return badOption('cors()', { name: 'origin', value, expected });
}
