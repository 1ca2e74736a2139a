import FindMyWay, { type FindResult, type HTTPMethod, type HTTPVersion } from 'find-my-way';
import { createRouter, type RouteMatch } from 'fw';
import { Memoirist, type FindResult as MemoiristResult } from 'memoirist';

import type { TableMatch } from '../../framework/core/src/router/route.ts';
import { RouteTable } from '../../framework/core/src/router/route-table.ts';
import type { Route } from './routes.ts';

/** A router with registered routes. `Match` is the result of its lookup, unchanged. */
export interface RouterUnderTest<Match> {
  find(method: string, path: string): Match | null | undefined;
  /** The route that the router returns: the `Route` itself, or its own record of it. */
  routeOf(match: Match): Pick<Route, 'path'>;
  /** Its parameters by name; `*` is the text that a wildcard matched. */
  paramsOf(match: Match): Readonly<Record<string, string | undefined>>;
}

type Create = (routes: readonly Route[]) => RouterUnderTest<unknown>;

/** Every router, with its package; the report prints the version. */
export const ROUTERS: Readonly<Record<string, { create: Create; package?: string }>> = {
  fw: { create: createFwTable },
  'fw-match': { create: createFw },
  'find-my-way': { create: (routes) => fromFindMyWay(findMyWay(routes)), package: 'find-my-way' },
  'find-my-way-compiled': {
    // As Fastify does with `routerOptions.compile`.
    create: (routes) => fromFindMyWay(findMyWay(routes).compile()),
    package: 'find-my-way',
  },
  memoirist: { create: createMemoirist, package: 'memoirist' },
};

/** Finds no route. Its time, for the string and the loop, is subtracted from that of all others. */
export function createEmpty(): RouterUnderTest<never> {
  const never = (match: never) => match;
  return {
    find: () => undefined,
    routeOf: never,
    paramsOf: never,
  };
}

/**
 * The lookup of a request, whose path the application has already normalised. Default options: folds
 * case, decodes percent-encoding, ignores a trailing slash.
 */
function createFwTable(routes: readonly Route[]): RouterUnderTest<TableMatch> {
  const table = new RouteTable({ caseSensitive: false, strict: false });
  for (const { path } of routes) {
    table.add({ method: 'GET', path, scopes: [], handlers: [() => undefined] });
  }
  return {
    find: (method, path) => table.find(method, path),
    routeOf: (match) => match.route,
    paramsOf: (match) => match.params,
  };
}

/** `router.match()`, which normalises the path before each lookup. */
function createFw(routes: readonly Route[]): RouterUnderTest<RouteMatch> {
  const router = createRouter();
  for (const { path } of routes) router.get(path, () => undefined);
  return {
    find: (method, path) => router.match(method, path),
    routeOf: (match) => match.route,
    paramsOf: (match) => match.params,
  };
}

function findMyWay(routes: readonly Route[]): FindMyWay.Instance<HTTPVersion.V1> {
  const router = FindMyWay();
  for (const route of routes) router.on('GET', route.path, () => undefined, route);
  return router;
}

/** The default of Fastify: case-sensitive, with decoding. */
function fromFindMyWay(
  router: FindMyWay.Instance<HTTPVersion.V1>,
): RouterUnderTest<FindResult<HTTPVersion.V1>> {
  return {
    find: (method, path) => router.find(method as HTTPMethod, path),
    routeOf: (match) => match.store,
    paramsOf: (match) => match.params,
  };
}

/** Case-sensitive and without decoding; it supports neither. */
function createMemoirist(routes: readonly Route[]): RouterUnderTest<MemoiristResult<Route>> {
  const router = new Memoirist<Route>();
  for (const route of routes) router.add('GET', route.path, route);
  return {
    find: (method, path) => router.find(method, path),
    routeOf: (match) => match.store,
    paramsOf: (match) => match.params,
  };
}
