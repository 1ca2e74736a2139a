import { runService } from '@fw/service';

import { createCatalogApp } from './app.ts';
import { VARIABLES } from './config.ts';
import { readItems } from './read-items.ts';
import { openSqliteCatalogStore } from './store/sqlite.ts';

await runService({
  name: 'catalog',
  summary: 'lists the items of a catalog',
  variables: VARIABLES,
  start(config, edge) {
    const store = openSqliteCatalogStore(config.DATABASE_FILE, readItems(config.DATA_FILE));
    return {
      app: createCatalogApp({ ...edge, store }),
      checks: { store: () => store.check() },
      close: () => store.close(),
    };
  },
});
