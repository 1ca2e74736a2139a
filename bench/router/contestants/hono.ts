import type { Result, Router } from 'hono/router';

import type { RouterUnderTest } from '../contestant.ts';
import type { Route } from '../routes.ts';

/** One of Hono's routers. Reads parameters as `c.req.param(name)` does. */
export function wrap(
  router: Router<Route>,
  routes: readonly Route[],
): RouterUnderTest<Result<Route>> {
  for (const route of routes) router.add('GET', route.path.replace('*', ':rest{.+}'), route);
  return {
    find: (method, path) => {
      const match = router.match(method, path);
      return match[0].length > 0 ? match : undefined;
    },
    routeOf: (match) => handlerOf(match)[0],
    id: ([handlers, stash]) => fromStash(handlers[0]?.[1].id, stash),
    orderId: ([handlers, stash]) => fromStash(handlers[0]?.[1].orderId, stash),
    itemId: ([handlers, stash]) => fromStash(handlers[0]?.[1].itemId, stash),
    rest: ([handlers, stash]) => fromStash(handlers[0]?.[1].rest, stash),
  };
}

function handlerOf(match: Result<Route>) {
  const [first] = match[0];
  if (!first) throw new Error('Cannot read the handler of no match');
  return first;
}

/** A router returns the value of a parameter, or its index in `stash`. */
function fromStash(value: string | number | undefined, stash: readonly string[] = []) {
  return typeof value === 'number' ? stash[value] : value;
}
