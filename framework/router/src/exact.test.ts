import { expect, test } from 'vitest';

import { ExactPaths } from './exact.ts';
import { createRouter } from './router.ts';

const handler = () => {};

/** Paths of one length that differ in none of the characters of the sample. */
const ALIKE = Array.from({ length: 20 }, (_, at) => `/${String.fromCharCode(97 + at)}/same/end`);

test('paths that a sample does not tell apart are each found by themselves, or left to the tree', () => {
  const paths = new ExactPaths();
  for (const [number, path] of ALIKE.entries()) paths.add(path, number);

  const found = ALIKE.map((path) => paths.find(path));

  expect(found.filter((number, at) => number !== at && number !== -1)).toEqual([]);
  expect(found.filter((number) => number >= 0).length).toBeGreaterThan(0);
  expect(paths.find('/z/same/end')).toBe(-1);
});

test('a router finds all of them', () => {
  const router = createRouter().get('/:any/same/end', handler);
  for (const path of ALIKE) router.get(path, handler);

  for (const path of ALIKE) expect(router.match('GET', path)?.route.path).toBe(path);
  expect(router.match('GET', '/z/same/end')?.params).toEqual({ any: 'z' });
});

test('a path that is added after a lookup is found, and the letters of another one are not', () => {
  const paths = new ExactPaths();
  paths.add('/users', 3);
  const before = paths.find('/items');
  paths.add('/items', 5);

  expect(before).toBe(-1);
  expect(
    ['/users', '/items', '/Users', '/users/', '/', ''].map((path) => paths.find(path)),
  ).toEqual([3, 5, -1, -1, -1, -1]);
});

test('a static path of one method leaves another one to the routes that it has', () => {
  const router = createRouter().post('/users/me', handler).get('/users/:id', handler);

  expect(router.match('GET', '/users/me')?.params).toEqual({ id: 'me' });
  expect(router.match('POST', '/users/me')?.params).toEqual({});
});
