import { addRoute, createRouter, findRoute, type MatchedRoute, type RouterContext } from 'rou3';

import type { RouterUnderTest } from '../contestant.ts';
import type { Route } from '../routes.ts';

/** Case-sensitive and without decoding; it supports neither. */
export function create(routes: readonly Route[]): RouterUnderTest<MatchedRoute<Route>> {
  const router = createTree(routes);
  return wrap((method, path) => findRoute(router, method, path));
}

export function createTree(routes: readonly Route[]): RouterContext<Route> {
  const router = createRouter<Route>();
  for (const route of routes) addRoute(router, 'GET', route.path.replace('*', '**:rest'), route);
  return router;
}

export function wrap(
  find: (method: string, path: string) => MatchedRoute<Route> | undefined,
): RouterUnderTest<MatchedRoute<Route>> {
  return {
    find,
    routeOf: (match) => match.data,
    id: (match) => match.params?.id,
    orderId: (match) => match.params?.orderId,
    itemId: (match) => match.params?.itemId,
    rest: (match) => match.params?.rest,
  };
}
