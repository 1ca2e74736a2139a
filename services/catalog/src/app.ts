import { deprecation } from '@fw/middleware/deprecation';
import { createServiceApp, documents, type ServiceRuntime, V1_DEPRECATED_SINCE } from '@fw/service';
import { type Application, notFoundHandler } from 'fw';

import { V1, V2 } from './paths.ts';
import type { CatalogStore } from './store.ts';
import { createCatalogRoutesV1 } from './v1.ts';
import { createCatalogRoutesV2 } from './v2.ts';

export interface CatalogAppOptions extends ServiceRuntime {
  readonly store: CatalogStore;
}

const DESCRIPTION = `Lists, searches and counts the items of a catalog.

Items and their \`ETag\` change only when an import replaces the whole catalog.
Version 1 is deprecated and does not change.`;

/** Creates the catalog API. */
export function createCatalogApp({ store, ...runtime }: CatalogAppOptions): Application {
  const v1 = createCatalogRoutesV1(store);
  const v2 = createCatalogRoutesV2(store);

  const app = createServiceApp(runtime);
  app.use(V1, deprecation({ from: V1, to: V2, since: V1_DEPRECATED_SINCE }));
  app.route(V2, v2);
  app.route(V1, v1);
  app.use(v2.allowedMethods());
  app.use(v1.allowedMethods());
  app.use(
    documents({ name: 'catalog', title: 'Catalog', description: DESCRIPTION, routers: [v2, v1] }),
  );
  app.use(notFoundHandler());
  return app;
}
