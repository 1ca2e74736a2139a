import { markFactories } from '../require-middleware.ts';

import type { Router, RouterOptions } from './router.ts';
import { TreeRouter } from './tree-router.ts';

/**
 * Creates a router.
 *
 * ```ts
 * const router = createRouter().get('/users/:id', (ctx) => ctx.json({ id: ctx.params.id }));
 * app.route('/api', router);
 * ```
 *
 * @throws {TypeError} if an option is unknown or has an invalid value
 */
export function createRouter<const Prefix extends string = ''>(
  options: RouterOptions & { readonly prefix?: Prefix } = {},
): Router<Prefix> {
  return new TreeRouter(options) as Router<string> as Router<Prefix>;
}

markFactories({ createRouter });
