import { RegExpRouter } from 'hono/router/reg-exp-router';
import { SmartRouter } from 'hono/router/smart-router';
import { TrieRouter } from 'hono/router/trie-router';

import type { Route } from '../routes.ts';
import { wrap } from './hono.ts';

/** The default of Hono: the first of the two routers that supports the routes. */
export function create(routes: readonly Route[]) {
  const routers = [new RegExpRouter<Route>(), new TrieRouter<Route>()];
  return wrap(new SmartRouter({ routers }), routes);
}
