import type { Route } from '../routes.ts';
import { createTree, wrap } from './find-my-way.ts';

/** The tree compiled into JavaScript, as Fastify does with `routerOptions.compile`. */
export function create(routes: readonly Route[]) {
  return wrap(createTree(routes).compile());
}
