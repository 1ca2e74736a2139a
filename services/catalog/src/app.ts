import { mcp } from '@fw/openapi/mcp';
import {
  createServiceApp,
  documents,
  mountVersions,
  retirementOf,
  type ServiceRuntime,
  type VersionConfig,
} from '@fw/service';
import { type Application, type Middleware, notFoundHandler } from 'fw';

import packageJson from '../package.json' with { type: 'json' };
import { V1_DEPRECATED_SINCE } from './config.ts';
import type { CatalogStore } from './store.ts';
import { createCatalogRoutesV1, V1 } from './v1.ts';
import { createCatalogRoutesV2, V2 } from './v2.ts';

export interface CatalogAppOptions extends ServiceRuntime {
  /** Requires a token for every route except the figures. Default: no route needs a token. */
  readonly authenticate?: Middleware | undefined;
  readonly store: CatalogStore;
  /** Default: every version is served. */
  readonly versionConfig?: VersionConfig;
}

const INFO = {
  title: 'Catalog',
  version: packageJson.version,
  description: `Lists, searches and counts the items of a catalog.

Items and their \`ETag\` change only when an import replaces the whole catalog.
Version 1 is deprecated and does not change.`,
};

/** The path of the tools for agents. */
const MCP = `${V2}/mcp`;

/** Creates the catalog API. */
export function createCatalogApp({
  authenticate,
  store,
  versionConfig,
  ...runtime
}: CatalogAppOptions): Application {
  const v1 = createCatalogRoutesV1(store, { authenticate });
  const v2 = createCatalogRoutesV2(store, { authenticate });

  const app = createServiceApp(runtime);
  if (authenticate) app.use(MCP, authenticate);
  app.use(mcp({ router: v2, path: MCP, info: INFO }));
  const retirement = retirementOf({ since: V1_DEPRECATED_SINCE, successor: V2 }, versionConfig);
  const routers = mountVersions(
    app,
    [
      { name: 'v2', path: V2, router: v2 },
      { name: 'v1', path: V1, router: v1, ...retirement },
    ],
    { metrics: runtime.metrics, proxyErrors: [502, 503, 504] },
  );
  app.use(
    documents({
      name: 'catalog',
      ...INFO,
      license: { name: 'MIT', identifier: 'MIT' },
      routers,
    }),
  );
  app.use(notFoundHandler());
  return app;
}
