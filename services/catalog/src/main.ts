import { runService } from '@fw/service';

import { createCatalogApp } from './app.ts';
import { VARIABLES } from './config.ts';
import { fillIfEmpty } from './fill.ts';
import { runImport, USAGE } from './import/command.ts';
import { openImport, openStore } from './store/open.ts';

await runService({
  name: 'catalog',
  summary: 'lists, searches and counts the items of a catalog',
  variables: VARIABLES,
  async start(config, edge) {
    const store = openStore(config, edge);
    await fillIfEmpty({
      store,
      openImport: () => openImport(config),
      file: config.DATA_FILE,
      logger: edge.logger,
    });
    return {
      app: createCatalogApp({ ...edge, store }),
      checks: { store: () => store.check() },
      close: () => store.close(),
    };
  },
  commands: {
    import: {
      summary: 'replaces the catalog by the items of a file (CSV or JSON lines, also gzipped)',
      usage: USAGE,
      run: (config, args, { signal }) =>
        runImport(args, {
          openTarget: () => openImport(config),
          signal,
          stdout: process.stdout,
          stderr: process.stderr,
        }),
    },
  },
});
