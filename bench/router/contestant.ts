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

/** The module of a contestant, `contestants/<name>.ts`. */
export interface RouterContestant<Match = unknown> {
  create(routes: readonly Route[]): RouterUnderTest<Match>;
}

/** Every contestant, with its package; the report prints the version. */
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
