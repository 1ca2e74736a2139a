import { join } from 'node:path';

import { type PostgresServer, startPostgres } from '@fw/service/testing/postgres';

import type { StoreName } from './contestant.ts';

/** Where a store is: an SQLite file, or the address of a PostgreSQL database. */
export type Place = { readonly file: string } | { readonly url: string };

/** How long a store may take: long enough on a busy machine too, where otherwise 1 s is the default. */
export const STORE_TIMEOUT_MS = 10_000;

/** The variables by which a service finds its store. */
export function storeVariablesOf(place: Place): Readonly<Record<string, string>> {
  return {
    ...('file' in place ? { DATABASE_FILE: place.file } : { DATABASE_URL: place.url }),
    DATABASE_TIMEOUT_MS: String(STORE_TIMEOUT_MS),
  };
}

/** Gives each contestant a database of its own. */
export interface Databases {
  create(store: StoreName): Promise<Place>;
  close(): Promise<void>;
}

/** What is acknowledged is on the disk, as it is in production. */
const DURABLE = { fsync: 'on', synchronous_commit: 'on', full_page_writes: 'on' };

/** Creates databases below `directory` and in one PostgreSQL server, which starts when it is needed. */
export function createDatabases(directory: string): Databases {
  let server: Promise<PostgresServer> | undefined;
  let files = 0;
  return {
    async create(store) {
      if (store === 'sqlite') return { file: join(directory, `${files++}.db`) };
      server ??= startPostgres({ settings: DURABLE });
      return { url: await (await server).createDatabase() };
    },
    async close() {
      await (await server)?.stop();
    },
  };
}
