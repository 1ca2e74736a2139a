import { compileRouter } from 'rou3/compiler';

import type { Route } from '../routes.ts';
import { createTree, wrap } from './rou3.ts';

/** Compiled into one JavaScript function. */
export function create(routes: readonly Route[]) {
  return wrap(compileRouter(createTree(routes)));
}
