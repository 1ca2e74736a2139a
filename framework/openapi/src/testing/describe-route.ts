import { createRouter, type Middleware } from '@fw/core';

import { generateDocument } from '../document.ts';

/** The operation of a route such as `GET /u` with these layers, and its document. */
export async function describeRoute(route: `${string} ${string}`, ...layers: readonly object[]) {
  const [method = '', path = ''] = route.split(' ');
  const router = createRouter().route(method, path, ...(layers as readonly Middleware[]), () => {});
  const { paths, components } = await generateDocument(router.getRoutes());
  const [operation] = Object.values(paths).flatMap((item) => Object.values(item));
  if (operation === undefined) throw new Error(`The document has no operation for ${route}`);
  return { operation, paths, components };
}
