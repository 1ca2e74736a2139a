import { readPattern } from '../request/path.ts';

/** The names that a pattern captures: `'/users/:id/*'` has `'id' | '*'`. */
export type ParamNames<
  Path extends string,
  Found = never,
> = Path extends `${infer Segment}/${infer Rest}`
  ? ParamNames<Rest, Found | NameOf<Segment>> // tail position, so that the compiler can unroll it
  : Found | NameOf<Path>;

type NameOf<Segment extends string> = Segment extends `:${infer Name}`
  ? Name
  : Segment extends '*'
    ? '*'
    : never;

/** The parameters that a pattern captures: `'/users/:id/*'` has `{ id: string; '*': string }`. */
export type ParamsOf<Path extends string> = string extends Path
  ? Record<string, string>
  : { readonly [Name in ParamNames<Path>]: string };

/**
 * Reads the pattern of a route into normal form.
 *
 * @throws {TypeError} with the route and the expected form
 */
export function readRoutePattern(method: string, path: string): string {
  const action = `Cannot register ${method} ${path}`;
  const pattern = readPattern(path, action);
  if (/\/%(?:3a|2a)/i.test(path)) {
    // Decoded, it would be a parameter or a wildcard that the type of the path does not have.
    throw new TypeError(`${action}: a segment must not begin with an escaped ":" or "*"`);
  }
  const segments = pattern.slice(1).split('/');
  const names = new Set<string>();
  for (const [index, segment] of segments.entries()) {
    if (segment.includes('*')) {
      if (segment !== '*') throw new TypeError(`${action}: "*" must be a segment of its own`);
      const isLast =
        index === segments.length - 1 || (index === segments.length - 2 && !segments.at(-1));
      if (!isLast) throw new TypeError(`${action}: "*" must be the last segment`);
    }
    if (!segment.startsWith(':')) continue;
    const name = segment.slice(1);
    if (!/^[A-Za-z_][\w-]*$/.test(name)) {
      throw new TypeError(
        `${action}: parameter "${name}" must have a name of letters, digits, "_" and "-"`,
      );
    }
    if (names.has(name)) throw new TypeError(`${action}: parameter "${name}" must occur only once`);
    names.add(name);
  }
  return segments.at(-1) === '' && segments.at(-2) === '*' ? pattern.slice(0, -1) : pattern;
}

/** Joins `prefix` and `path`; a path of only `/` adds nothing. */
export function joinPaths(prefix: string, path: string): string {
  const start = prefix.endsWith('/') ? prefix.slice(0, -1) : prefix;
  return path === '/' && start !== '' ? start : start + path;
}

/** The parameter names of a pattern in order; a wildcard is named `*`. */
export function namesIn(pattern: string): string[] {
  return pattern
    .split('/')
    .filter((segment) => segment.startsWith(':') || segment === '*')
    .map((segment) => segment.replace(/^:/, ''));
}
