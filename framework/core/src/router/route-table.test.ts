import { describe, expect, test } from 'vitest';
import { Tree } from './route-table.ts';
import { createRouter } from './router.ts';

const handler = () => {};

/** A path that counts how often its characters are read. */
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

  slice(start: number, end: number): string {
    this.reads += end - start;
    return this.#text.slice(start, end);
  }
}

/** How many characters a lookup of `path` reads among `patterns`, and whether it finds one. */
function lookUp(patterns: readonly string[], path: string): { found: boolean; reads: number } {
  const tree = new Tree({ caseSensitive: false, strict: false });
  const numbers = patterns.map((pattern) => tree.add(pattern));
  const counted = new CountedPath(path);
  const match = tree.find(counted as unknown as string, numbers);
  return { found: match !== undefined, reads: counted.reads };
}

const TEN_THOUSAND = Array.from({ length: 10_000 }, (_, number) => number);
const TEN = TEN_THOUSAND.slice(0, 10);

test.each([
  ['/static/item-5/list', true, (n: number) => `/static/item-${n}/list`],
  ['/STATIC/Item-5/List/', true, (n: number) => `/static/item-${n}/list`],
  ['/items/5/an-identifier', true, (n: number) => `/items/${n}/:id`],
  ['/deep/5/one/b/two/d', true, (n: number) => `/deep/${n}/:a/b/:c/d`],
  ['/files/5/some/deep/path.txt', true, (n: number) => `/files/${n}/*`],
  ['/deep/5/one/x', false, (n: number) => `/deep/${n}/:a/b`],
])(
  'a lookup of %s (found: %s) reads as many characters among 10,000 routes as among 10',
  (path, found, toPattern) => {
    const few = lookUp(TEN.map(toPattern), path);
    const many = lookUp(TEN_THOUSAND.map(toPattern), path);

    expect(few.found).toBe(found);
    expect(many).toEqual(few);
  },
);

test('a lookup reads each character of a static path once, with any number of branches', () => {
  const path = `/${'a'.repeat(100)}`;
  const branching = Array.from({ length: 100 }, (_, index) => `/${'a'.repeat(index)}b`);

  const { found, reads } = lookUp([...branching, path], path);

  expect(found).toBe(true);
  expect(reads).toBe(path.length + 1); // the last one also to see whether it is a slash
});

describe('backtracking', () => {
  const SEGMENTS = 10;
  /** Every pattern of `SEGMENTS` segments `a` or parameters, followed by `/end`. */
  const everyWay = Array.from({ length: 2 ** SEGMENTS }, (_, bits) => {
    const segments = Array.from({ length: SEGMENTS }, (_, at) =>
      bits & (1 << at) ? `:p${at}` : 'a',
    );
    return `/${segments.join('/')}/end`;
  });

  test('tries static text and parameter once for each way to match the segments before', () => {
    const path = `/${'a/'.repeat(SEGMENTS)}other`;

    const { found, reads } = lookUp(everyWay, path);

    expect(found).toBe(false);
    expect(reads).toBeLessThanOrEqual(6 * 2 ** (SEGMENTS + 1));
  });

  test('costs no more with ten thousand other routes', () => {
    const path = `/${'a/'.repeat(SEGMENTS)}other`;
    const others = TEN_THOUSAND.map((number) => `/a/b${number}/:x/*`);

    expect(
      lookUp([...everyWay, ...others], path).reads - lookUp(everyWay, path).reads,
    ).toBeLessThan(path.length);
  });

  test('keeps no parameter of an abandoned branch', () => {
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

test('a wildcard route is not found for another method with fewer routes', () => {
  const router = createRouter().get('/', handler);
  for (const number of TEN) router.post(`/${number}`, handler);
  router.post('/files/*', handler);

  expect(router.match('GET', '/files/x')).toBeUndefined();
  expect(router.match('POST', '/files/x')?.params).toEqual({ '*': 'x' });
});
