import type { Route } from '../routes.ts';
import { createTree, wrap } from './find-my-way.ts';

/** Its tree compiled into JavaScript, which Fastify does when `routerOptions.compile` is set. */
export function create(routes: readonly Route[]) {
  return wrap(createTree(routes).compile());
}
