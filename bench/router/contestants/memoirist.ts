import { type FindResult, Memoirist } from 'memoirist';

import type { RouterUnderTest } from '../contestant.ts';
import type { Route } from '../routes.ts';

/** Case-sensitive and without decoding; it supports neither. */
export function create(routes: readonly Route[]): RouterUnderTest<FindResult<Route>> {
  const router = new Memoirist<Route>();
  for (const route of routes) router.add('GET', route.path, route);
  return {
    find: (method, path) => router.find(method, path),
    routeOf: (match) => match.store,
    id: (match) => match.params.id,
    orderId: (match) => match.params.orderId,
    itemId: (match) => match.params.itemId,
    rest: (match) => match.params['*'],
  };
}
