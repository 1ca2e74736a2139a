import { createCatalogApp } from '@fw/catalog/src/app.ts';
import { VARIABLES } from '@fw/catalog/src/config.ts';
import { fillIfEmpty } from '@fw/catalog/src/fill.ts';
import { openImport, openStore } from '@fw/catalog/src/store/open.ts';
import type { CatalogStore } from '@fw/catalog/src/store.ts';
import { readConfig } from '@fw/service';

import type { Settings } from '../contestant.ts';
import { storeVariablesOf } from '../databases.ts';
import { catalogRoutes } from '../peers/catalog.ts';
import type { Subject } from './serve.ts';

async function openFilled({ store: place, itemsFile }: Settings): Promise<CatalogStore> {
  const config = readConfig(VARIABLES, { ...storeVariablesOf(place), DATA_FILE: itemsFile });
  const store = await openStore(config);
  await fillIfEmpty({
    store,
    openImport: () => openImport(config),
    file: config.DATA_FILE,
    signal: new AbortController().signal,
  });
  return store;
}

/** The catalog service on both frameworks. */
export const subject: Subject<CatalogStore> = {
  openStore: openFilled,
  createApp: (store, edge) => createCatalogApp({ ...edge, store }),
  peer: catalogRoutes,
};
