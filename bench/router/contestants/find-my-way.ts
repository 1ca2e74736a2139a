import FindMyWay, { type FindResult, type HTTPMethod, type HTTPVersion } from 'find-my-way';

import type { RouterUnderTest } from '../contestant.ts';
import type { Route } from '../routes.ts';

/** The default of Fastify: case-sensitive, with decoding. */
export function create(routes: readonly Route[]): RouterUnderTest<FindResult<HTTPVersion.V1>> {
  return wrap(createTree(routes));
}

export function createTree(routes: readonly Route[]): FindMyWay.Instance<HTTPVersion.V1> {
  const router = FindMyWay();
  for (const route of routes) router.on('GET', route.path, () => undefined, route);
  return router;
}

export function wrap(
  router: FindMyWay.Instance<HTTPVersion.V1>,
): RouterUnderTest<FindResult<HTTPVersion.V1>> {
  return {
    find: (method, path) => router.find(method as HTTPMethod, path),
    routeOf: (match) => match.store,
    id: (match) => match.params.id,
    orderId: (match) => match.params.orderId,
    itemId: (match) => match.params.itemId,
    rest: (match) => match.params['*'],
  };
}
