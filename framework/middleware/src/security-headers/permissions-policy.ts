import { badOption } from '@fw/core/options';

/** The origins that may use a browser feature: `'self'`, `'*'` or origins. An empty list denies it to all. */
export type PermissionsPolicy = Readonly<Record<string, readonly string[]>>;

/**
 * The text of `Permissions-Policy`.
 *
 * @throws {TypeError} if the name of a feature or an origin is invalid
 */
export function readPermissions(policy: PermissionsPolicy): string {
  return Object.entries(policy)
    .map(([feature, origins]) => {
      if (!/^[a-z][a-z-]*$/.test(feature)) {
        throw invalid(feature, 'names of features in lower case, such as "camera"');
      }
      if (!Array.isArray(origins)) throw invalid(origins, 'a list of origins for each feature');
      return `${feature}=(${origins.map(readOrigin).join(' ')})`;
    })
    .join(', ');
}

function readOrigin(origin: unknown): string {
  if (origin === 'self' || origin === '*') return origin;
  if (typeof origin === 'string' && URL.parse(origin)?.origin === origin) return `"${origin}"`;
  throw invalid(origin, '"self", "*" or an origin such as "https://example.com"');
}

function invalid(value: unknown, expected: string): TypeError {
  return badOption('securityHeaders()', { name: 'permissionsPolicy', value, expected });
}
