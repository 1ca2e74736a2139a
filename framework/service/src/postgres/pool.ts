import { statSync } from 'node:fs';
import { Socket } from 'node:net';

import { loadOptional } from '@fw/core/extension';
import type { ClientBase, ClientConfig, Pool, PoolClient, QueryConfig } from 'pg';

import type { Database } from '../tracing/tracing.ts';
import { ConnectionLostError } from './errors.ts';

const importer = { user: 'openPostgres()', from: import.meta.url };

export const pg = loadOptional('pg', {
  ...importer,
  bundled: (): typeof import('pg') => require('pg'),
});
const { parse } = loadOptional('pg-connection-string', {
  ...importer,
  bundled: (): typeof import('pg-connection-string') => require('pg-connection-string'),
});

export interface PoolOptions {
  /**
   * Address of the database. A function is called for each use: once a connection to a changed address works,
   * later calls use it, and the connections to the previous one close after their calls.
   */
  readonly url: string | (() => string);
  /** Name of the application that the server shows. */
  readonly name: string;
  /** Maximum number of connections. Default 10. */
  readonly poolSize?: number;
  /** Number of connections that stay open without calls. */
  readonly keptConnections: number;
  /**
   * Time limit of a statement, and of opening a connection. A server that sends nothing on any
   * connection for that long is unavailable. Default 5 s.
   */
  readonly statementTimeoutMs?: number;
  /** How long a call may wait for a connection of a busy pool. Default 15 s. */
  readonly waitTimeoutMs?: number;
  /** Settings of each session, such as `{ work_mem: '64MB' }`. Default: those of the server. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** How long a pool whose server rejects new connections opens none. */
const LIMITED_MS = 1_000;

/** The types of the driver omit the time limit of the response, in milliseconds. */
export type TimedStatement = QueryConfig & { readonly query_timeout?: number };

/** A pool that can be destroyed while its connections are in use. */
export interface DestroyablePool {
  readonly pool: Pool;
  /** The address of its connections. */
  readonly url: string;
  /** The server, for the spans of its statements. */
  readonly database: Database;
  /** Whether a pooler, such as PgBouncer, may run each transaction of `client` on another connection. */
  isShared(client: PoolClient): boolean;
  /** Opens no connection for a second, if any is open: calls wait for those. Returns whether any is open. */
  limitToOpen(): boolean;
  /** Closes each connection after the calls that use it or wait for it. */
  retire(): void;
  /** Destroys every connection: calls that use one or wait for one reject. */
  destroy(reason: Error): void;
}

/**
 * Creates a pool of connections to `url`.
 *
 * @throws {AddressFileError} naming the certificate file of `url` that cannot be read
 */
export function createPool(url: string, options: Required<PoolOptions>): DestroyablePool {
  const { settings, statementTimeoutMs, waitTimeoutMs } = options;
  const address = readAddress(url);
  const sockets = new Set<Socket>();
  const open = new Set<ClientBase>();
  const shared = new WeakSet<ClientBase>();
  let destroyReason: Error | undefined;

  /** The pool opens a connection for each waiting call, also after `destroy`: its socket then fails immediately. */
  function openSocket(): Socket {
    const socket = new Socket();
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    if (destroyReason) setImmediate(() => socket.destroy(destroyReason));
    return socket;
  }

  /**
   * Sets the settings of the session by a statement, because poolers refuse or ignore them as parameters of
   * the connection. Detects a pooler: it reports another process id than the server.
   */
  async function prepareSession(client: ClientBase & { readonly processID?: number }) {
    const calls = Object.entries(settings).map(
      ([name, value]) => `set_config('${name}', ${pg.escapeLiteral(value)}, false)`,
    );
    const text = `SELECT ${calls.join(', ')} WHERE pg_backend_pid() = ${client.processID}`;
    const statement: TimedStatement = { text, query_timeout: statementTimeoutMs };
    const { rowCount } = await client.query(statement);
    if (rowCount === 0) shared.add(client);
  }

  const pool = new pg.Pool({
    onConnect: prepareSession,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    fallback_application_name: options.name,
    ...address,
    stream: openSocket,
    max: options.poolSize,
    min: options.keptConnections,
    idleTimeoutMillis: 30_000,
    connectionTimeoutMillis: Number.isFinite(waitTimeoutMs) ? waitTimeoutMs : 0,
    // The pool would pass the time limit of the queue to its clients.
    Client: class extends pg.Client {
      constructor(config?: ClientConfig) {
        // The pool makes the password of its options not enumerable, so `...config` does not copy it.
        const { password } = config ?? {};
        super({ ...config, password, connectionTimeoutMillis: statementTimeoutMs });
      }
    },
  });
  // Without a listener, the loss of a connection would end the process; its call gets the error anyway.
  pool
    .on('connect', (client) => {
      open.add(client);
      client.on('error', () => {});
    })
    .on('remove', (client) => open.delete(client));
  const limit = setTimeout(() => {
    pool.options.max = options.poolSize;
  }, LIMITED_MS).unref();

  return {
    pool,
    url,
    database: {
      system: 'postgresql',
      namespace: address.database,
      host: address.host,
      port: address.port,
    },
    isShared: (client) => shared.has(client),
    limitToOpen() {
      if (open.size === 0) return false;
      pool.options.max = open.size;
      limit.refresh();
      return true;
    },
    retire() {
      const end = () => {
        // The driver would forget calls that wait.
        if (pool.waitingCount === 0 && !pool.ending) void pool.end();
      };
      pool.on('release', end);
      end();
    },
    destroy(reason) {
      destroyReason = reason;
      for (const socket of sockets) socket.destroy(reason);
    },
  };
}

/** Thrown if a file in the address of a database (`sslrootcert`, `sslcert`, `sslkey`) cannot be read. */
export class AddressFileError extends ConnectionLostError {}

/**
 * Reads the address of a database, and the certificate files that it names. The driver would read them
 * for every connection, and end the process if one is missing.
 *
 * @throws {AddressFileError} naming the file that cannot be read
 */
function readAddress(url: string): ClientConfig {
  try {
    return { ...(parse(url) as object) };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const file = 'path' in error ? error.path : findDirectory(url);
    if (file === undefined) throw error;
    throw new AddressFileError(
      `Cannot read the file "${file}" that DATABASE_URL names: ${error.message}`,
      { cause: error },
    );
  }
}

/** The directory that `url` names instead of a file: the error of reading it has no path. */
function findDirectory(url: string): string | undefined {
  const query = Object.fromEntries(new URLSearchParams(url.replace(/^[^?]*/, '')));
  return [query.sslcert, query.sslkey, query.sslrootcert].find(
    (file) => file && statSync(file, { throwIfNoEntry: false })?.isDirectory(),
  );
}
