import { RegExpRouter } from 'hono/router/reg-exp-router';

import type { Route } from '../routes.ts';
import { wrap } from './hono.ts';

export function create(routes: readonly Route[]) {
  return wrap(new RegExpRouter<Route>(), routes);
}
