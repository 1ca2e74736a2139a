import { describeRoute, metadataOf, problemOfStatus } from '@fw/core/extension';
import { deprecation } from '@fw/middleware/deprecation';
import {
  type AllowedMethodsOptions,
  type Application,
  type Context,
  HttpError,
  type Middleware,
  type Router,
} from 'fw';

import type { ConfigOf } from '../config/read-config.ts';
import { day, oneOf } from '../config/variables.ts';
import type { Metrics } from '../metrics/metrics.ts';

/** One version of an API. */
export interface ApiVersion {
  /** Its name in metrics and messages, such as `v1`. */
  readonly name: string;
  /** Its path prefix, such as `/api/v1/users`. */
  readonly path: string;
  /** Set if a newer version replaces this one. */
  readonly deprecated?: VersionDeprecation;
  /** Whether the version is no longer served: its paths respond with 410. Default false. */
  readonly isRemoved?: boolean;
}

/** When a version becomes deprecated and ends, and what replaces it. */
export interface VersionDeprecation {
  readonly since: Date;
  /** From when on the version may stop responding. Default: no end is announced. */
  readonly sunset?: Date | undefined;
  /** The path prefix of the version that replaces it. */
  readonly successor: string;
}

/** A version and the router of its routes. */
export interface MountedVersion extends ApiVersion {
  readonly router: Router;
  /** Options of the router's `allowedMethods()`. */
  readonly allowedMethods?: AllowedMethodsOptions;
}

export interface MountVersionsOptions {
  /** Counts the requests of each client to each version. Default: they are not counted. */
  readonly metrics?: Metrics | undefined;
  /**
   * The statuses of the problems that a proxy in front of the service sends if no replica responds; each
   * operation of the document has them. Default: none.
   */
  readonly proxyErrors?: readonly number[];
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
  { metrics, proxyErrors = [] }: MountVersionsOptions = {},
): readonly Router[] {
  for (const version of versions) {
    const { path, deprecated, isRemoved } = version;
    const middleware: Middleware[] = metrics ? [countClients(version, metrics)] : [];
    if (deprecated) {
      const { since, sunset, successor } = deprecated;
      const announce = deprecation({ from: path, to: successor, since, sunset });
      middleware.push(announce);
      // The application runs `announce`. The router only adds its description to the OpenAPI document.
      version.router.use(describeRoute(metadataOf(announce) ?? {}));
    }
    if (isRemoved) middleware.push(respondGone(version));
    if (middleware.length > 0) app.use(path, ...middleware);
  }
  const mounted = versions.filter(({ isRemoved }) => !isRemoved);
  if (proxyErrors.length > 0) {
    const errors = proxyErrors.map((status) => ({ status, code: problemOfStatus(status).code }));
    for (const { router } of mounted) router.use(describeRoute({ errors }));
  }
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

/**
 * The program that sends a request, for statistics: `X-Client-Id` if it is 1 to 64 characters of
 * `[A-Za-z0-9._-]`, otherwise the first product of `User-Agent` without its version (RFC 9110 §10.1.5),
 * otherwise `none`. Any client can send any name, so do not use it for access control.
 */
export function clientNameOf(ctx: Pick<Context, 'get'>): string {
  const id = ctx.get('x-client-id');
  if (id !== undefined && /^[\w.-]{1,64}$/.test(id)) return id;
  const [product] = /^[\w.-]{1,64}(?=[/ ]|$)/.exec(ctx.get('user-agent') ?? '') ?? [];
  return product ?? 'none';
}

function respondGone({ name, deprecated }: ApiVersion): Middleware {
  const successor = deprecated ? `: use ${deprecated.successor}` : '';
  return () => {
    throw new HttpError(410, `Version ${name} of this API was removed${successor}`);
  };
}

/**
 * The environment variables that announce the end of version 1 and rehearse it. `deprecatedSince` is a day
 * such as `2026-12-01`.
 */
export function versionVariables(deprecatedSince: string) {
  return {
    V1_SUNSET: day()
      .refine((end) => end >= deprecatedSince, `must not be before ${deprecatedSince}`)
      .optional()
      .meta({ description: 'day on which version 1 ends, announced by `Sunset`; none: no end' }),
    WITHOUT_VERSION: oneOf(['v1'])
      .optional()
      .meta({ description: 'old version that is not served: its paths respond with 410' }),
  };
}

/** The values of `versionVariables`. Default: version 1 is served, and no end is announced. */
export type VersionConfig = Partial<ConfigOf<ReturnType<typeof versionVariables>>>;

/** The members of version 1 that depend on its retirement, for `mountVersions`. */
export function retirementOf(
  { since, successor }: { readonly since: string; readonly successor: string },
  { V1_SUNSET, WITHOUT_VERSION }: VersionConfig = {},
): Pick<ApiVersion, 'deprecated' | 'isRemoved'> {
  const sunset = V1_SUNSET === undefined ? undefined : new Date(V1_SUNSET);
  return {
    deprecated: { since: new Date(since), sunset, successor },
    isRemoved: WITHOUT_VERSION === 'v1',
  };
}
