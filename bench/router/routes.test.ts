import { expect, test } from 'vitest';

import { createPathSource } from './paths.ts';
import { createRoutes, createTargets, KINDS } from './routes.ts';

test.each([10, 1_000, 10_000])('createRoutes creates %d different routes', (size) => {
  expect(new Set(createRoutes(size).map(({ path }) => path)).size).toBe(size);
});

test.each(KINDS.filter((kind) => kind !== 'miss'))('targets reach every route: %s', (kind) => {
  const routes = createRoutes(1_000);

  const reached = new Set(createTargets(kind, routes).map(({ route }) => route));

  expect(reached).toEqual(new Set(routes.filter((route) => route.kind === kind)));
});

test('the path of a miss matches no route', () => {
  const routes = createRoutes(100);
  const patterns = routes.map(
    ({ path }) => new RegExp(`^${path.replace(/:\w+/g, '[^/]+').replace('*', '.+')}$`),
  );

  const found = createTargets('miss', routes).filter(({ path }) =>
    patterns.some((pattern) => pattern.test(path)),
  );

  expect(found).toEqual([]);
});

test('a path source repeats its paths in turn', () => {
  const nextPath = createPathSource(['/a', '/users/7']);

  expect([nextPath(), nextPath(), nextPath()]).toEqual(['/a', '/users/7', '/a']);
});
