import { runService } from '@fw/service';

import { createCatalogApp } from './app.ts';
import { type CatalogConfig, readCatalogConfig } from './config.ts';
import { readItems } from './read-items.ts';
import { openSqliteCatalogStore } from './store/sqlite.ts';

await runService<CatalogConfig>({
  name: 'catalog',
  readConfig: readCatalogConfig,
  start(config, edge) {
    const store = openSqliteCatalogStore(config.DATABASE_FILE, readItems(config.DATA_FILE));
    return {
      app: createCatalogApp({ ...edge, store }),
      checks: { store: () => store.check() },
      close: () => store.close(),
    };
  },
});
