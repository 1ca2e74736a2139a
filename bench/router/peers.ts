import FindMyWay, { type FindResult, type HTTPMethod, type HTTPVersion } from 'find-my-way';
import { createRouter, type RouteMatch } from 'fw';
import type { Result, Router } from 'hono/router';
import { RegExpRouter } from 'hono/router/reg-exp-router';
import { SmartRouter } from 'hono/router/smart-router';
import { TrieRouter } from 'hono/router/trie-router';
import { Memoirist, type FindResult as MemoiristResult } from 'memoirist';
import * as rou3 from 'rou3';
import { compileRouter } from 'rou3/compiler';

import { RouteTable, type TableMatch } from '../../framework/core/src/router/route-table.ts';
import type { Route } from './routes.ts';

/** A router with registered routes. `Match` is the result of its lookup, unchanged. */
export interface RouterUnderTest<Match> {
  find(method: string, path: string): Match | null | undefined;
  /** The route that the router returns: the `Route` itself, or its own record of it. */
  routeOf(match: Match): Pick<Route, 'path'>;
  /** Each parameter has its own function, because a handler also reads it by a fixed name. */
  id(match: Match): string | undefined;
  orderId(match: Match): string | undefined;
  itemId(match: Match): string | undefined;
  /** The text that the wildcard matched. */
  rest(match: Match): string | undefined;
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
  rou3: {
    create(routes) {
      const tree = rou3Tree(routes);
      return fromRou3((method, path) => rou3.findRoute(tree, method, path));
    },
    package: 'rou3',
  },
  'rou3-compiled': {
    create: (routes) => fromRou3(compileRouter(rou3Tree(routes))),
    package: 'rou3',
  },
  'hono-smart': {
    // The default of Hono: the first of the two routers that supports the routes.
    create: (routes) =>
      fromHono(
        new SmartRouter({ routers: [new RegExpRouter<Route>(), new TrieRouter<Route>()] }),
        routes,
      ),
    package: 'hono',
  },
  'hono-regexp': {
    create: (routes) => fromHono(new RegExpRouter<Route>(), routes),
    package: 'hono',
  },
  'hono-trie': { create: (routes) => fromHono(new TrieRouter<Route>(), routes), package: 'hono' },
};

/** Finds no route. Its time, for the string and the loop, is subtracted from that of all others. */
export function createEmpty(): RouterUnderTest<never> {
  const never = (match: never) => match;
  return {
    find: () => undefined,
    routeOf: never,
    id: never,
    orderId: never,
    itemId: never,
    rest: never,
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
    id: (match) => match.params.id,
    orderId: (match) => match.params.orderId,
    itemId: (match) => match.params.itemId,
    rest: (match) => match.params['*'],
  };
}

/** `router.match()`, which normalises the path before each lookup. */
function createFw(routes: readonly Route[]): RouterUnderTest<RouteMatch> {
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
    id: (match) => match.params.id,
    orderId: (match) => match.params.orderId,
    itemId: (match) => match.params.itemId,
    rest: (match) => match.params['*'],
  };
}

/** Case-sensitive and without decoding; it supports neither. */
function createMemoirist(routes: readonly Route[]): RouterUnderTest<MemoiristResult<Route>> {
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

function rou3Tree(routes: readonly Route[]): rou3.RouterContext<Route> {
  const router = rou3.createRouter<Route>();
  for (const route of routes) {
    rou3.addRoute(router, 'GET', route.path.replace('*', '**:rest'), route);
  }
  return router;
}

/** Case-sensitive and without decoding; it supports neither. */
function fromRou3(
  find: (method: string, path: string) => rou3.MatchedRoute<Route> | undefined,
): RouterUnderTest<rou3.MatchedRoute<Route>> {
  return {
    find,
    routeOf: (match) => match.data,
    id: (match) => match.params?.id,
    orderId: (match) => match.params?.orderId,
    itemId: (match) => match.params?.itemId,
    rest: (match) => match.params?.rest,
  };
}

/** One of Hono's routers. Reads parameters as `c.req.param(name)` does. */
function fromHono(router: Router<Route>, routes: readonly Route[]): RouterUnderTest<Result<Route>> {
  for (const route of routes) router.add('GET', route.path.replace('*', ':rest{.+}'), route);
  return {
    find: (method, path) => {
      const match = router.match(method, path);
      return match[0].length > 0 ? match : undefined;
    },
    routeOf(match) {
      const [first] = match[0];
      if (!first) throw new Error('Cannot read the handler of no match');
      return first[0];
    },
    id: ([handlers, stash]) => fromStash(handlers[0]?.[1].id, stash),
    orderId: ([handlers, stash]) => fromStash(handlers[0]?.[1].orderId, stash),
    itemId: ([handlers, stash]) => fromStash(handlers[0]?.[1].itemId, stash),
    rest: ([handlers, stash]) => fromStash(handlers[0]?.[1].rest, stash),
  };
}

/** A router returns the value of a parameter, or its index in `stash`. */
function fromStash(value: string | number | undefined, stash: readonly string[] = []) {
  return typeof value === 'number' ? stash[value] : value;
}
