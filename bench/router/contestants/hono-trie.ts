import { TrieRouter } from 'hono/router/trie-router';

import type { Route } from '../routes.ts';
import { wrap } from './hono.ts';

export function create(routes: readonly Route[]) {
  return wrap(new TrieRouter<Route>(), routes);
}
