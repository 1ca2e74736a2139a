import { requireTokenKey, runService } from '@fw/service';
import { createTokenGuard } from '@fw/service/tokens';

import { createCatalogApp } from './app.ts';
import { VARIABLES } from './config.ts';
import { fillIfEmpty } from './fill.ts';
import { importCommand } from './import/command.ts';
import { openImport, openStore } from './store/open.ts';

await runService({
  name: 'catalog',
  summary: 'lists, searches and counts the items of a catalog',
  variables: VARIABLES,
  rule: requireTokenKey,
  async start(config, runtime) {
    const authenticate = await createTokenGuard(config, runtime);
    const store = await openStore(config, runtime);
    const closing = new AbortController();
    await fillIfEmpty({
      store,
      openImport: () => openImport(config),
      file: config.DATA_FILE,
      logger: runtime.logger,
      signal: closing.signal,
    });
    return {
      app: createCatalogApp({ ...runtime, authenticate, store, versionConfig: config }),
      checks: { store: () => store.check() },
      close() {
        closing.abort();
        return store.close();
      },
    };
  },
  openStore,
  commands: { import: importCommand },
});
