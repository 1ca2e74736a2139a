import type { Logger } from '@fw/core';

import type { DocumentedRoute } from './operation.ts';
import type { RouteSource } from './options.ts';

/** Logs a router of which the document has paths that are not served: requests for them get 404. */
export function warnOfUnserved(
  routers: readonly RouteSource[],
  documented: readonly DocumentedRoute[],
  log: Logger,
): void {
  const paths = new Set(documented.map(({ path }) => path));
  for (const router of routers) {
    const unserved = router.unservedPaths?.().find((path) => paths.has(path));
    if (unserved === undefined) continue;
    log.warn(
      `The OpenAPI document has ${unserved}, but requests for it get 404, because its router is not mounted: use app.route(prefix, router)`,
    );
  }
}
