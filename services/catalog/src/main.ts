import { runService } from '@fw/service';

import { createCatalogApp } from './app.ts';
import { VARIABLES } from './config.ts';
import { fillIfEmpty } from './fill.ts';
import { openImport, openStore } from './store/open.ts';

const IMPORT_USAGE = 'FILE [--strict] [--report FILE]';

await runService({
  name: 'catalog',
  summary: 'lists, searches and counts the items of a catalog',
  variables: VARIABLES,
  async start(config, runtime) {
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
      app: createCatalogApp({ ...runtime, store, versionConfig: config }),
      checks: { store: () => store.check() },
      close() {
        closing.abort();
        return store.close();
      },
    };
  },
  openStore,
  commands: {
    import: {
      summary: 'replaces the catalog by the items of an NDJSON file (plain or gzip)',
      usage: IMPORT_USAGE,
      async run(config, args, { signal }) {
        const { runImport } = await import('./import/command.ts');
        const { stdout, stderr } = process;
        return runImport(args, {
          usage: IMPORT_USAGE,
          openImport: () => openImport(config),
          signal,
          stdout,
          stderr,
        });
      },
    },
  },
});
