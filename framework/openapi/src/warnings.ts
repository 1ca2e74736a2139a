import type { Logger } from '@fw/core';
import { requireJsonSchema } from '@fw/core/schema';

import { PARTS } from './metadata.ts';
import type { RouteSource } from './options.ts';
import type { DocumentedRoute } from './select-routes.ts';

/** Logs each request schema of which the document describes a part as "any value". */
export function warnOfUndescribed(routes: readonly DocumentedRoute[], log: Logger): void {
  for (const { method, path, metadata } of routes) {
    for (const part of PARTS) {
      const problem = problemOf(metadata.validation?.[part]);
      if (problem === undefined) continue;
      log.warn(
        `The OpenAPI document does not describe the ${part} of ${method} ${path}: ${problem}`,
      );
    }
  }
}

function problemOf(schema: unknown): string | undefined {
  try {
    requireJsonSchema(schema, 'input');
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

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
