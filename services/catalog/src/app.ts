import { mcp } from '@fw/openapi/mcp';
import { createServiceApp, documents, mountVersions, type ServiceRuntime } from '@fw/service';
import { type Application, notFoundHandler } from 'fw';

import { type VersionConfig, versionsOf } from '../../versions.ts';
import packageJson from '../package.json' with { type: 'json' };
import type { CatalogStore } from './store.ts';
import { createCatalogRoutesV1, V1 } from './v1.ts';
import { createCatalogRoutesV2, V2 } from './v2.ts';

export interface CatalogAppOptions extends ServiceRuntime {
  readonly store: CatalogStore;
  /** Default: every version is served. */
  readonly versionConfig?: VersionConfig;
}

const DESCRIPTION = `Lists, searches and counts the items of a catalog.

Items and their \`ETag\` change only when an import replaces the whole catalog.
Version 1 is deprecated and does not change.`;

/** Creates the catalog API. */
export function createCatalogApp({
  store,
  versionConfig,
  ...runtime
}: CatalogAppOptions): Application {
  const v1 = createCatalogRoutesV1(store);
  const v2 = createCatalogRoutesV2(store);

  const app = createServiceApp(runtime);
  app.use(
    mcp({
      router: v2,
      path: `${V2}/mcp`,
      info: { title: 'Catalog', version: packageJson.version, description: DESCRIPTION },
    }),
  );
  const versions = versionsOf({ v1: V1, v2: V2 }, versionConfig);
  const routers = mountVersions(
    app,
    [
      { ...versions.v2, router: v2 },
      { ...versions.v1, router: v1 },
    ],
    runtime,
  );
  app.use(
    documents({
      name: 'catalog',
      title: 'Catalog',
      version: packageJson.version,
      description: DESCRIPTION,
      license: { name: 'MIT', identifier: 'MIT' },
      routers,
    }),
  );
  app.use(notFoundHandler());
  return app;
}
