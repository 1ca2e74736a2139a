import { createServiceApp, type ServiceEdge, superseded, V1_DEPRECATED_SINCE } from '@fw/service';
import { type Application, notFoundHandler } from 'fw';

import type { CatalogStore } from './store.ts';
import { catalogRoutes } from './v1.ts';

export interface CatalogAppOptions extends ServiceEdge {
  readonly store: CatalogStore;
}

const V1 = '/api/v1/catalog';
const V2 = '/api/v2/catalog';

/** Creates the catalog API over a store. */
export function createCatalogApp({ store, ...edge }: CatalogAppOptions): Application {
  const v1 = catalogRoutes(store);

  const app = createServiceApp(edge);
  app.use(V1, superseded({ from: V1, to: V2, since: V1_DEPRECATED_SINCE }));
  app.route(V1, v1);
  app.use(v1.allowedMethods());
  app.use(notFoundHandler());
  return app;
}
