import { describeRoute, metadataOf } from '@fw/core/extension';
import { deprecation } from '@fw/middleware/deprecation';
import {
  type AllowedMethodsOptions,
  type Application,
  HttpError,
  type Middleware,
  type Router,
} from 'fw';

import type { Metrics } from '../metrics/metrics.ts';
import type { ApiVersion } from './api-version.ts';
import { clientNameOf } from './client-name.ts';

/** A version and the router of its routes. */
export interface MountedVersion extends ApiVersion {
  readonly router: Router;
  /** Options of the router's `allowedMethods()`. */
  readonly allowedMethods?: AllowedMethodsOptions;
}

export interface MountVersionsOptions {
  /** Counts the requests of each client to each version. Default: they are not counted. */
  readonly metrics?: Metrics | undefined;
}

/**
 * Mounts each version at its path: a deprecated version announces its successor on every response and in
 * the OpenAPI document, a removed version responds with 410. Returns the mounted routers.
 *
 * ```ts
 * const routers = mountVersions(app, [
 *   { name: 'v2', path: '/api/v2/notes', router: v2 },
 *   { name: 'v1', path: '/api/v1/notes', router: v1, deprecated: { since, successor: '/api/v2/notes' } },
 * ]);
 * ```
 */
export function mountVersions(
  app: Application,
  versions: readonly MountedVersion[],
  { metrics }: MountVersionsOptions = {},
): readonly Router[] {
  for (const version of versions) {
    const { path, deprecated, isRemoved } = version;
    if (metrics) app.use(path, countClients(version, metrics));
    if (deprecated) {
      const { since, sunset, successor } = deprecated;
      const announce = deprecation({ from: path, to: successor, since, sunset });
      app.use(path, announce);
      // It runs for the application; the router only describes it in its document.
      version.router.use(describeRoute(metadataOf(announce) ?? {}));
    }
    if (isRemoved) app.use(path, respondGone(version));
  }
  const mounted = versions.filter(({ isRemoved }) => !isRemoved);
  for (const { path, router } of mounted) app.route(path, router);
  for (const { router, allowedMethods } of mounted) app.use(router.allowedMethods(allowedMethods));
  return mounted.map(({ router }) => router);
}

function countClients({ name: version, path }: ApiVersion, metrics: Metrics): Middleware {
  return (ctx, next) => {
    metrics.countClient({ version, path, client: clientNameOf(ctx) });
    return next();
  };
}

function respondGone({ name, deprecated }: ApiVersion): Middleware {
  const successor = deprecated ? `: use ${deprecated.successor}` : '';
  return () => {
    throw new HttpError(410, `Version ${name} of this API was removed${successor}`);
  };
}
