import { createRouter, type RouteMatch } from 'fw';

import type { RouterUnderTest } from '../contestant.ts';
import type { Route } from '../routes.ts';

/** `router.match()`, which normalises the path before each lookup. */
export function create(routes: readonly Route[]): RouterUnderTest<RouteMatch> {
  const router = createRouter();
  for (const { path } of routes) router.get(path, () => undefined);
  return {
    find: (method, path) => router.match(method, path),
    routeOf: (match) => match.route,
    id: (match) => match.params.id,
    orderId: (match) => match.params.orderId,
    itemId: (match) => match.params.itemId,
    rest: (match) => match.params['*'],
  };
}
