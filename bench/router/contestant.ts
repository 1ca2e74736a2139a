import type { Route } from './routes.ts';

/** A router with routes in it. `Match` is what it answers a lookup with, as it is. */
export interface RouterUnderTest<Match> {
  find(method: string, path: string): Match | null | undefined;
  /** What the router gives back for the route: the `Route` itself, or its own record of it. */
  routeOf(match: Match): Pick<Route, 'path'>;
  /** Each parameter is read by its own function, as a handler would that knows its name. */
  id(match: Match): string | undefined;
  orderId(match: Match): string | undefined;
  itemId(match: Match): string | undefined;
  /** What the wildcard took. */
  rest(match: Match): string | undefined;
}

/** The module of a contestant, `contestants/<name>.ts`. */
export interface RouterContestant<Match = unknown> {
  create(routes: readonly Route[]): RouterUnderTest<Match>;
}

/** Every contestant, with the package whose version the report names. */
export const ROUTERS: Readonly<Record<string, string | undefined>> = {
  fw: undefined,
  'fw-match': undefined,
  'find-my-way': 'find-my-way',
  'find-my-way-compiled': 'find-my-way',
  memoirist: 'memoirist',
  rou3: 'rou3',
  'rou3-compiled': 'rou3',
  'hono-smart': 'hono',
  'hono-regexp': 'hono',
  'hono-trie': 'hono',
};
