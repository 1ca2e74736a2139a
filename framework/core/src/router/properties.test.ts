import { createApp } from '@fw/core';
import { request } from '@fw/core/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createRouter } from './router.ts';
import type { RouterOptions } from './types.ts';

const handler = () => {};

/** A route of the model: decoded segments, each `=text`, `:name` or `*`. */
interface Entry {
  readonly method: string;
  readonly pattern: string;
  readonly segments: readonly string[];
}

/** The rules of matching as specified, without regard for speed. */
function naiveMatch(
  entries: readonly Entry[],
  requested: readonly string[],
  options: RouterOptions,
) {
  const fold = (text: string) => (options.caseSensitive ? text : text.replace(/[A-Z]/g, lower));
  const takes = ({ segments }: Entry) => {
    const isWild = segments.at(-1) === '*';
    const rest = isWild ? requested.slice(segments.length - 1) : ['none'];
    if (isWild ? requested.length < segments.length : requested.length !== segments.length)
      return false;
    if (rest.slice(0, -1).includes('') || (rest.length === 1 && rest[0] === '')) return false;
    if (isWild && !options.strict && rest.at(-1) === '') return false;
    const fits = (s: string, at: number) =>
      s.startsWith('=')
        ? fold(s.slice(1)) === fold(requested[at] ?? '')
        : s === '*' || requested[at] !== '';
    return segments.every(fits);
  };
  return entries.filter(takes).sort(bySpecificity)[0];
}

const lower = (letter: string) => letter.toLowerCase();
const rank = ({ segments }: Entry) => segments.map((s) => '=:*'.indexOf(s.charAt(0))).join('');
const bySpecificity = (a: Entry, b: Entry) =>
  rank(a).localeCompare(rank(b)) || b.method.localeCompare(a.method);

/** The routes for `method`; an explicit HEAD sorts before the GET of the same path. */
function routesFor(entries: readonly Entry[], method: string): Entry[] {
  return entries.filter((e) => e.method === method || (method === 'HEAD' && e.method === 'GET'));
}

function capture(
  segments: readonly string[],
  requested: readonly string[],
): Record<string, string> {
  const captured = segments.flatMap((segment, at) => {
    if (segment === '*') return [['*', requested.slice(at).join('/')]];
    return segment.startsWith(':') ? [[segment.slice(1), requested[at]]] : [];
  });
  return Object.fromEntries(captured);
}

/** The decoded segments of a path; none for an ambiguous or malformed path. */
function readSegments(path: string, { strict }: RouterOptions): string[] {
  try {
    if (!/^\/[!-~]*$/.test(path) || /[?#\\]/.test(path)) return [];
    const segments = path.slice(1).split('/').map(decodeURIComponent);
    const pieces = segments.flatMap((segment) => segment.split('/'));
    if (pieces.some((p) => p === '.' || p === '..' || p.includes('\\') || p.includes('\0')))
      return [];
    return !strict && path.length > 2 && segments.at(-1) === '' ? segments.slice(0, -1) : segments;
  } catch {
    return [];
  }
}

const METHODS = ['GET', 'GET', 'POST', 'HEAD'];
const TEXTS = ['x y', ...'a b A ab aB abc 0 é É a/b %61 % a:b a;b ... > ?#'.split(' ')];
const ODD = [
  ...['', ' ', '\\', '\u00e9', '\ud800', '\u{1f600}'],
  ...'. .. %2e %2E%2e %2F.. %00 %ZZ % %C3 %ff %ED%A0%80 %C0%AF %5c'.split(' '),
  ...'# ? %F0%9F%98%80 %2F a%2fb %252e ..; * :a'.split(' '),
];

/** A route of up to six segments; routes name the parameter at one place differently. */
const entry: fc.Arbitrary<Entry> = fc
  .record({
    method: fc.constantFrom(...METHODS),
    name: fc.constantFrom('p', 'q'),
    kinds: fc.array(fc.constantFrom(...TEXTS.map((text) => `=${text}`), ':', ':', ':', ':', ':'), {
      maxLength: 5,
    }),
    ending: fc.constantFrom('', '', '', '/', '/*'),
  })
  .map(({ method, name, kinds, ending }) => {
    const named = kinds.map((kind, at) => (kind === ':' ? `:${name}${at}` : kind));
    const start = named.map((s) => `/${s.startsWith('=') ? encodeURIComponent(s.slice(1)) : s}`);
    const segments = ending === '/*' ? [...named, '*'] : named;
    return { method, pattern: start.join('') + ending || '/', segments };
  });

/** A spelling of `text` in a path: each character unchanged, in the other case, or escaped. */
function spell(text: string, choices: readonly number[]): string {
  const escapeAll = (character: string) =>
    [...new TextEncoder().encode(character)].map(toEscape).join('');
  return [...text]
    .map((character, at) => {
      const ways = [encodeURIComponent(character), swapCase(character), escapeAll(character)];
      return ways[(choices[at % choices.length] ?? 0) % 3];
    })
    .join('');
}

const toEscape = (octet: number) => `%${octet.toString(16).padStart(2, '0')}`;
const swapCase = (character: string) =>
  /[a-z]/.test(character) ? character.toUpperCase() : encodeURIComponent(lower(character));

const segment = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...TEXTS.map(encodeURIComponent)) },
  {
    weight: 4,
    arbitrary: fc
      .tuple(fc.constantFrom(...TEXTS), fc.array(fc.nat(2), { minLength: 1, maxLength: 4 }))
      .map(([text, choices]) => spell(text, choices)),
  },
  { weight: 1, arbitrary: fc.constantFrom(...ODD) },
);
const path = fc
  .tuple(fc.array(segment, { maxLength: 6 }), fc.constantFrom('', '', '', '', '/', '//'))
  .map(([segments, ending]) => `/${segments.join('/')}${ending}`);

/** A router of these routes but those that conflict, and what the model knows of it. */
function build(entries: readonly Entry[], options: RouterOptions) {
  const router = createRouter(options);
  const known: Entry[] = [];
  for (const { method, pattern, segments } of entries) {
    try {
      router.route(method, pattern, handler);
    } catch (error) {
      if (String(error).startsWith('Error: Route conflict')) continue;
      throw error;
    }
    const endsEmpty = pattern === '/' || (options.strict && pattern.endsWith('/'));
    known.push({ method, pattern, segments: endsEmpty ? [...segments, '='] : segments });
  }
  return { router, known };
}

const RUNS = 3_000;
const LOOKUPS = 8;

describe.each<RouterOptions>([
  {},
  { caseSensitive: true },
  { strict: true },
  { caseSensitive: true, strict: true },
])('a router with %o', (options) => {
  test('finds the same as the naive matcher, in any order of registration, in 24,000 lookups', () => {
    let hits = 0;
    const routes = fc.array(entry, { minLength: 1, maxLength: 14 });
    const requested = fc.array(fc.tuple(fc.constantFrom(...METHODS), path), {
      minLength: LOOKUPS,
      maxLength: LOOKUPS,
    });

    fc.assert(
      fc.property(routes, requested, (entries, requests) => {
        const { router, known } = build(entries, options);
        const { router: reversed } = build(known.toReversed(), options);
        const paths = router.getRoutes().map((route) => route.path);
        for (const [method, target] of requests) {
          const segments = readSegments(target, options);
          const best = naiveMatch(routesFor(known, method), segments, options);
          const expected = best && {
            method: best.method,
            path: paths[known.indexOf(best)],
            params: capture(best.segments, segments),
          };
          if (best) hits++;
          for (const found of [router.match(method, target), reversed.match(method, target)]) {
            const { route, params } = found ?? {};
            expect(
              route && { method: route.method, path: route.path, params: { ...params } },
            ).toEqual(expected);
          }
        }
      }),
      { numRuns: RUNS },
    );

    expect(hits).toBeGreaterThan((RUNS * LOOKUPS) / 20);
  });
});

/** Any text, and typical parts of paths. */
const anything = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc
    .string({ unit: fc.constantFrom(...'/ab.%2e5CFf\\?#;:*'), maxLength: 40 })
    .map((text) => `/${text}`),
  path,
);

test('match never throws and treats each path like its normal form, in 20,000 lookups', () => {
  const router = createRouter();
  for (const pattern of ['/', '/a', '/a/:b', '/:a/b', '/a/*', '/é/%61', '/ab%2Fc/:d/*']) {
    router.all(pattern, handler);
  }

  fc.assert(
    fc.property(anything, (text) => {
      const found = router.match('GET', text);
      const normal = readSegments(text, { strict: true });
      const again = router.match('GET', `/${normal.map(encodeURIComponent).join('/')}`);
      expect(found).toEqual(normal.length > 0 ? again : undefined);
    }),
    { numRuns: 20_000 },
  );
});

test('an application responds to every target with 200, 301, 400 or 404, in 4,000 requests', async () => {
  const failures: string[] = [];
  const logger = { info() {}, warn() {}, error: (message: string) => void failures.push(message) };
  const router = createRouter()
    .get('/a/:b', (ctx) => ctx.json(ctx.params))
    .get('/:a/*', (ctx) => ctx.json(ctx.params))
    .redirect('/b/*', '/*');
  const app = createApp({ logger })
    .use('/a', (_ctx, next) => next())
    .use(router.routes());
  const sendable = anything.filter((text) => /^[!-\xff]+$/.test(text));

  await fc.assert(
    fc.asyncProperty(sendable, async (target) => {
      const { status } = await request(app, target);
      expect([200, 301, 400, 404]).toContain(status);
    }),
    { numRuns: 4_000 },
  );

  expect(failures).toEqual([]);
});
