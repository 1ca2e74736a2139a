import net from 'node:net';

/**
 * The servers of data and counters, as variables of the services. Without them, users and catalog use
 * SQLite files, and reports counts in memory.
 */
export type Stores = { readonly [Name in 'DATABASE_URL' | 'REDIS_URL']?: string | undefined };

const CONNECT_TIMEOUT_MS = 3_000;

/**
 * Resolves when each server accepts a connection. The services would start without it and wait.
 *
 * @throws {Error} with the variable and the host of the first server that does not
 */
export async function requireReachable({ DATABASE_URL, REDIS_URL }: Stores): Promise<void> {
  if (DATABASE_URL) await requireServer('DATABASE_URL', DATABASE_URL, 5432);
  if (REDIS_URL) await requireServer('REDIS_URL', REDIS_URL, 6379);
}

async function requireServer(name: string, address: string, defaultPort: number): Promise<void> {
  if (!URL.canParse(address)) throw new Error(`${name} must be an address such as scheme://host`);
  const { hostname, port } = new URL(address);
  // An address without a host is a Unix socket, whose path is unknown here.
  if (hostname === '') return;
  const host = hostname.replace(/^\[|\]$/g, '');
  const socket = net.connect({ host, port: Number(port || defaultPort) });
  const reason = await new Promise<string | undefined>((resolve) => {
    socket.setTimeout(CONNECT_TIMEOUT_MS, () => resolve(`no response in ${CONNECT_TIMEOUT_MS} ms`));
    socket.once('connect', () => resolve(undefined));
    socket.once('error', ({ message, name: kind }) => resolve(message || kind));
  });
  socket.destroy();
  if (reason) throw new Error(`Cannot reach ${placeOf(address)} of ${name}: ${reason}`);
}

/** The stores in words, without user names and passwords. */
export function describeStores({ DATABASE_URL, REDIS_URL }: Stores): string {
  const data = DATABASE_URL
    ? `PostgreSQL at ${placeOf(DATABASE_URL)}`
    : 'SQLite (DATABASE_URL: PostgreSQL)';
  const counters = REDIS_URL ? `Redis at ${placeOf(REDIS_URL)}` : 'memory (REDIS_URL: Redis)';
  return `data in ${data}, rate limits in ${counters}`;
}

/** Host, port and database of an address. */
function placeOf(address: string): string {
  if (!URL.canParse(address)) return 'an invalid address';
  const { host, pathname } = new URL(address);
  return `${host}${pathname === '/' ? '' : pathname}`;
}
