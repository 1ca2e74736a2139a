import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';

/**
 * The servers that keep data and counts, as environment variables of the services. Without them
 * users and catalog keep SQLite files, and reports counts in memory.
 */
export interface Stores {
  readonly DATABASE_URL?: string;
  readonly REDIS_URL?: string;
}

/** The stores that `env` names; a variable that is set to nothing names none. */
export function readStores({ DATABASE_URL, REDIS_URL }: NodeJS.ProcessEnv): Stores {
  return { ...(DATABASE_URL && { DATABASE_URL }), ...(REDIS_URL && { REDIS_URL }) };
}

/** Writes down which stores the running system uses, for its owner's eyes only: they hold passwords. */
export function keepStores(run: string, stores: Stores): void {
  fs.mkdirSync(run, { recursive: true });
  const draft = path.join(run, `stores.json.${process.pid}`);
  fs.writeFileSync(draft, `${JSON.stringify(stores)}\n`, { mode: 0o600 });
  fs.renameSync(draft, path.join(run, 'stores.json'));
}

/** The stores that the running system uses: what is run beside it has to use the same. */
export function keptStores(run: string): Stores {
  const file = path.join(run, 'stores.json');
  return fs.existsSync(file) ? readStores(JSON.parse(fs.readFileSync(file, 'utf8'))) : {};
}

/** How long a server may take to accept a connection. */
const CONNECT_TIMEOUT_MS = 3_000;

/**
 * Resolves once each server accepts a connection. The services would start without, and wait for it;
 * who names one wants to be told.
 *
 * @throws {Error} naming the variable and the place of the first that does not
 */
export async function requireReachable({ DATABASE_URL, REDIS_URL }: Stores): Promise<void> {
  if (DATABASE_URL) await requireServer('DATABASE_URL', DATABASE_URL, 5432);
  if (REDIS_URL) await requireServer('REDIS_URL', REDIS_URL, 6379);
}

async function requireServer(name: string, address: string, defaultPort: number): Promise<void> {
  if (!URL.canParse(address)) throw new Error(`${name} must be an address such as scheme://host`);
  const { hostname, port } = new URL(address);
  // Without a host it is a socket of this machine, whose place is not for us to guess.
  if (hostname === '') return;
  const host = hostname.replace(/^\[|\]$/g, '');
  const socket = net.connect({ host, port: Number(port || defaultPort) });
  const reason = await new Promise<string | undefined>((resolve) => {
    socket.setTimeout(CONNECT_TIMEOUT_MS, () => resolve(`no answer in ${CONNECT_TIMEOUT_MS} ms`));
    socket.once('connect', () => resolve(undefined));
    socket.once('error', ({ message, name: kind }) => resolve(message || kind));
  });
  socket.destroy();
  if (reason) throw new Error(`Cannot reach ${placeOf(address)}, which ${name} names: ${reason}`);
}

/** The stores in words, without what is nobody's business. */
export function describeStores({ DATABASE_URL, REDIS_URL }: Stores): string {
  const data = DATABASE_URL
    ? `PostgreSQL at ${placeOf(DATABASE_URL)}`
    : 'SQLite (DATABASE_URL: PostgreSQL)';
  const counts = REDIS_URL ? `Redis at ${placeOf(REDIS_URL)}` : 'memory (REDIS_URL: Redis)';
  return `data in ${data}, rate limits in ${counts}`;
}

/** Host, port and name of an address: neither user nor password. */
function placeOf(address: string): string {
  if (!URL.canParse(address)) return 'an address that cannot be read';
  const { host, pathname } = new URL(address);
  return `${host}${pathname === '/' ? '' : pathname}`;
}
