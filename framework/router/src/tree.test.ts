import { describe, expect, test } from 'vitest';

import { createRouter } from './router.ts';
import { Tree } from './tree.ts';

const handler = () => {};

/** A path that counts how often one of its characters is read, and knows no other way to read it. */
class CountedPath {
  reads = 0;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  get length(): number {
    return this.#text.length;
  }

  charCodeAt(at: number): number {
    this.reads++;
    return this.#text.charCodeAt(at);
  }
}

/** How many characters a lookup of `path` reads among `patterns`, and whether it finds one. */
function lookUp(patterns: readonly string[], path: string): { found: boolean; reads: number } {
  const tree = new Tree({ caseSensitive: false, strict: false });
  for (const pattern of patterns) tree.add(pattern);
  const counted = new CountedPath(path);
  const leaf = tree.find(counted as unknown as string, new Int32Array(tree.size));
  return { found: leaf >= 0, reads: counted.reads };
}

const TEN_THOUSAND = Array.from({ length: 10_000 }, (_, number) => number);
const TEN = TEN_THOUSAND.slice(0, 10);

// The steps of a lookup depend on the path, never on the number of routes.
test.each([
  ['/static/item-5/list', (n: number) => `/static/item-${n}/list`],
  ['/STATIC/Item-5/List/', (n: number) => `/static/item-${n}/list`],
  ['/items/5/an-identifier', (n: number) => `/items/${n}/:id`],
  ['/deep/5/one/b/two/d', (n: number) => `/deep/${n}/:a/b/:c/d`],
  ['/files/5/some/deep/path.txt', (n: number) => `/files/${n}/*`],
])('a lookup of %s reads as many characters among 10,000 routes as among 10', (path, toPattern) => {
  const few = lookUp(TEN.map(toPattern), path);
  const many = lookUp(TEN_THOUSAND.map(toPattern), path);

  expect(few.found).toBe(true);
  expect(many).toEqual(few);
});

test('a miss reads as many characters among 10,000 routes as among 10', () => {
  const toPattern = (n: number) => `/deep/${n}/:a/b`;

  const few = lookUp(TEN.map(toPattern), '/deep/5/one/x');
  const many = lookUp(TEN_THOUSAND.map(toPattern), '/deep/5/one/x');

  expect(few.found).toBe(false);
  expect(many).toEqual(few);
});

test('a lookup reads the characters of a static path one by one, whatever branches on the way', () => {
  const path = `/${'a'.repeat(100)}`;
  const branching = Array.from({ length: 100 }, (_, index) => `/${'a'.repeat(index)}b`);

  const { found, reads } = lookUp([...branching, path], path);

  expect(found).toBe(true);
  expect(reads).toBe(path.length + 5); // the last one also to see whether it is a slash, four as a sample
});

describe('backing out', () => {
  const SEGMENTS = 10;
  /** Every way to write a path of `SEGMENTS` segments `a` as `a` and parameters, none of them ending where it does. */
  const everyWay = Array.from({ length: 2 ** SEGMENTS }, (_, bits) => {
    const segments = Array.from({ length: SEGMENTS }, (_, at) =>
      bits & (1 << at) ? `:p${at}` : 'a',
    );
    return `/${segments.join('/')}/end`;
  });

  test('tries each of the two readings of a segment once for each reading of those before it', () => {
    const path = `/${'a/'.repeat(SEGMENTS)}other`;

    const { found, reads } = lookUp(everyWay, path);

    expect(found).toBe(false);
    expect(reads).toBeLessThanOrEqual(6 * 2 ** (SEGMENTS + 1));
  });

  test('costs no more where ten thousand other routes stand beside it', () => {
    const path = `/${'a/'.repeat(SEGMENTS)}other`;
    const beside = TEN_THOUSAND.map((number) => `/a/b${number}/:x/*`);

    expect(
      lookUp([...everyWay, ...beside], path).reads - lookUp(everyWay, path).reads,
    ).toBeLessThan(path.length);
  });

  test('keeps no parameter of the way that led nowhere', () => {
    const router = createRouter()
      .get('/:a/x/:b/y', handler)
      .get('/:a/*', handler)
      .get('/one/:b/:c/z', handler);

    expect(router.match('GET', '/one/x/two/w')).toMatchObject({
      route: { path: '/:a/*' },
      params: { a: 'one', '*': 'x/two/w' },
    });
  });
});

test('a wildcard of one method is not found by another one that has fewer routes', () => {
  const router = createRouter().get('/', handler);
  for (const number of TEN) router.post(`/${number}`, handler);
  router.post('/files/*', handler);

  expect(router.match('GET', '/files/x')).toBeUndefined();
  expect(router.match('POST', '/files/x')?.params).toEqual({ '*': 'x' });
});

test.each([
  ['/', '//'],
  ['/files/*', '/files/a//'],
  ['/files/*', '/files//'],
  ['/files/*', '/files//a'],
  ['/users/:id', '/users/7//'],
])('%s does not take the empty segment of %s', (pattern, path) => {
  expect(createRouter().get(pattern, handler).match('GET', path)).toBeUndefined();
});

test.each([
  ['/caf%c3%a9', '/caf%C3%A9', { caseSensitive: true }],
  ['/%6De', '/me', {}],
  ['/%3e', '/%3E', {}],
  ['/%2561', '/%2561', {}],
])('match reads %s as %s, whatever else begins with an escape', (path, expected, options) => {
  const router = createRouter(options)
    .get('/me', handler)
    .get('/%25x', handler)
    .get('/%2561', handler)
    .get('/>', handler)
    .get('/%22', handler)
    .get('/café', handler);

  expect(router.match('GET', path)?.route.path).toBe(
    createRouter().get(expected, handler).getRoutes()[0]?.path,
  );
});

test('match reads an escape beside a wildcard of another method', () => {
  const router = createRouter().head('/*', handler).get('/a', handler);

  expect(router.match('GET', '/%61')?.route.path).toBe('/a');
});

test('a route that is added after a lookup is found by the next one', () => {
  const router = createRouter().get('/users/:id', handler);
  const before = router.match('GET', '/users/me/posts/7');
  router.get('/users/:id/posts/:post', handler);

  expect(before).toBeUndefined();
  expect(router.match('GET', '/users/me/posts/7')?.params).toEqual({ id: 'me', post: '7' });
});
