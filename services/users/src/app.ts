import { mcp } from '@fw/openapi/mcp';
import {
  createServiceApp,
  documents,
  mountVersions,
  retirementOf,
  type ServiceRuntime,
  type VersionConfig,
} from '@fw/service';
import { type Application, type Context, type Middleware, notFoundHandler } from 'fw';

import packageJson from '../package.json' with { type: 'json' };
import { V1_DEPRECATED_SINCE } from './config.ts';
import type { UserStore } from './store.ts';
import type { Origins } from './user.ts';
import { createUserRoutesV1, V1 } from './v1.ts';
import { createUserRoutesV2, PATCH_TYPES, V2 } from './v2.ts';

export interface UsersAppOptions extends ServiceRuntime, Partial<Origins> {
  /** Requires a token for every route except the figures. Default: no route needs a token. */
  readonly authenticate?: Middleware | undefined;
  readonly store: UserStore;
  /** Maximum size of a request body, in bytes. */
  readonly bodyLimit: number;
  /** Default: every version is served. */
  readonly versionConfig?: VersionConfig;
}

const INFO = {
  title: 'Users',
  version: packageJson.version,
  description: `Creates, reads, lists, changes and deletes users.

\`If-Match\` with the \`ETag\` of a user prevents lost updates; with an \`Idempotency-Key\` a client may
repeat a creation. Version 1 is deprecated and does not change.`,
};

/** The path of the tools for agents. */
const MCP = `${V2}/mcp`;

/**
 * Reading one user: other systems need it to authorize their own requests. Like the router, the pattern ignores
 * case and a trailing slash. `map … $class` in deploy/nginx/nginx.conf is the same rule.
 */
const ONE_USER = /^\/api\/v[12]\/users\/[0-9a-f-]{36}\/?$/i;

const isCritical = ({ method, path }: Context) => method === 'GET' && ONE_USER.test(path);

/** Creates the users API. */
export function createUsersApp({
  authenticate,
  store,
  bodyLimit,
  newId = () => crypto.randomUUID(),
  now = () => new Date(),
  versionConfig,
  ...runtime
}: UsersAppOptions): Application {
  const options = { authenticate, bodyLimit, newId, now };
  const v1 = createUserRoutesV1(store, options);
  const v2 = createUserRoutesV2(store, options);

  const app = createServiceApp({ ...runtime, isCritical });
  if (authenticate) app.use(MCP, authenticate);
  app.use(mcp({ router: v2, path: MCP, info: INFO, tools: ['createUser', 'changeUser'] }));
  const retirement = retirementOf({ since: V1_DEPRECATED_SINCE, successor: V2 }, versionConfig);
  const routers = mountVersions(
    app,
    [
      { name: 'v2', path: V2, router: v2, allowedMethods: { patchTypes: PATCH_TYPES } },
      { name: 'v1', path: V1, router: v1, ...retirement },
    ],
    { metrics: runtime.metrics, proxyErrors: [502, 503, 504] },
  );
  app.use(
    documents({
      name: 'users',
      ...INFO,
      license: { name: 'MIT', identifier: 'MIT' },
      routers,
    }),
  );
  app.use(notFoundHandler());
  return app;
}
