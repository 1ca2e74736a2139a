import { setTimeout as sleep } from 'node:timers/promises';

import { startPostgres } from '@fw/service/testing/postgres';
import { createClient } from 'redis';

import type { Stores } from '../../../deploy/local/processes/stores.ts';
import { startRedisServer } from '../../../framework/rate-limit/src/testing/redis-server.ts';
import type { PartProxy } from '../toxiproxy.ts';
import type { Part, PartName } from './part.ts';
import type { Setup } from './setup.ts';

/** The servers of data and counters. */
export interface Servers {
  readonly parts: Partial<Record<PartName, Part>>;
  /** Their addresses for the services. */
  readonly stores: Stores;
  /** Whether Valkey counts requests of `user`. */
  isCounted(user: string): Promise<boolean>;
}

/** Starts Valkey and, unless the database is SQLite, PostgreSQL. */
export async function startServers({ database, disk, toxiproxy, stops }: Setup): Promise<Servers> {
  const valkey = await startRedisServer();
  stops.push(valkey.stop);
  const valkeyProxy = await toxiproxy.createProxy('valkey', valkey.port);
  const Valkey: Part = {
    hostName: 'valkey.test',
    ...proxied(valkeyProxy),
    kill: () => valkey.signal('SIGKILL'),
    restart: valkey.restart,
    pause: () => valkey.signal('SIGSTOP'),
    resume: () => valkey.signal('SIGCONT'),
  };
  const REDIS_URL = `redis://valkey.test:${valkeyProxy.port}`;
  const isCounted = (user: string) => hasKeyOf(user, valkey.url);
  if (database === 'SQLite') return { parts: { Valkey }, stores: { REDIS_URL }, isCounted };

  const postgres = await startPostgres({ parent: disk.folder });
  stops.push(postgres.stop);
  const proxy = await toxiproxy.createProxy('postgres', Number(new URL(postgres.url).port));
  const PostgreSQL: Part = { hostName: 'postgres.test', ...proxied(proxy), ...postgres };
  const DATABASE_URL = `postgres://postgres@postgres.test:${proxy.port}/postgres`;
  return { parts: { Valkey, PostgreSQL }, stores: { REDIS_URL, DATABASE_URL }, isCounted };
}

async function hasKeyOf(user: string, url: string): Promise<boolean> {
  const client = createClient({ url, socket: { connectTimeout: 500, reconnectStrategy: false } });
  client.on('error', () => {});
  const keys = client.connect().then(() => client.keys(`*:user:${user}`));
  const found = await Promise.race([keys, sleep(500, [])]).catch(() => []);
  client.destroy();
  return found.length > 0;
}

/** All clients look up the name. */
function proxied(...proxies: readonly PartProxy[]): Pick<Part, 'proxies' | 'namedProxies'> {
  return { proxies, namedProxies: proxies };
}
