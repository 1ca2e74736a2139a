import { annotate, type Middleware } from '@fw/core';
import { aString, badOption, check, readOptions, required } from '@fw/core/options';

export interface DeprecationOptions {
  /** The path prefix of the old version. */
  readonly from: string;
  /** The path prefix of the new version, under which the same paths exist. */
  readonly to: string;
  /** When the old version becomes deprecated; may be in the future. */
  readonly since: Date;
  /** From when on the old version may stop responding. Default: no end is announced. */
  readonly sunset?: Date | undefined;
}

/** A proxy such as nginx replaces a response with 502 if its headers exceed 4 KiB. */
const MAX_LINK_LENGTH = 2_000;

const aDate = check(
  'a valid Date',
  (value) => value instanceof Date && !Number.isNaN(value.getTime()),
);

/**
 * Announces on every response that a newer version of the same path exists: `Deprecation` (RFC 9745),
 * `Link` with the relation `successor-version` (RFC 5829), and `Sunset` (RFC 8594) if there is an end.
 * A path of more than 2,000 characters gets no `Link`.
 * Mount it at `from`: `app.use('/api/v1', deprecation({ from: '/api/v1', to: '/api/v2', since }))`.
 * On a router, it also marks the operations in the OpenAPI document as deprecated.
 *
 * @throws {TypeError} if an option is missing or invalid, or `sunset` is before `since`
 */
export function deprecation(options: DeprecationOptions): Middleware {
  const { from, to, since, sunset } = readOptions('deprecation()', options, {
    from: required(aString),
    to: required(aString),
    since: required(aDate),
    sunset: aDate,
  });
  if (sunset && sunset < since) {
    const expected = `a date that is not before since, ${since.toISOString()}`;
    throw badOption('deprecation()', { name: 'sunset', value: sunset, expected });
  }
  const deprecated = `@${Math.floor(since.getTime() / 1000)}`;
  const end = sunset?.toUTCString();
  const announce: Middleware = (ctx, next) => {
    const successor = to + ctx.path.slice(from.length).replace(/[<>"]/g, encodeURIComponent);
    ctx.set('Deprecation', deprecated);
    if (end !== undefined) ctx.set('Sunset', end);
    if (successor.length <= MAX_LINK_LENGTH) {
      ctx.append('Link', `<${successor}>; rel="successor-version"`);
    }
    return next();
  };
  return annotate(announce, { deprecation: { headers: describeHeaders({ since, sunset }) } });
}

/** The descriptions of the headers in the OpenAPI document. */
function describeHeaders({ since, sunset }: Pick<DeprecationOptions, 'since' | 'sunset'>) {
  return {
    Deprecation: `When this version became deprecated (RFC 9745): ${dayOf(since)}`,
    ...(sunset && { Sunset: `When this version ends (RFC 8594): ${dayOf(sunset)}` }),
    Link: 'The same path in the new version, with the relation `successor-version`',
  };
}

function dayOf(date: Date): string {
  return date.toISOString().slice(0, 10);
}
