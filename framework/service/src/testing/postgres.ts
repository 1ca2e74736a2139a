export interface StartPostgresOptions {
  /** Settings of the server, such as `{ fsync: 'on' }`. Default: the quick ones, safe against no crash. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** A real PostgreSQL server on a free port, and what may happen to it. */
export interface PostgresServer {
  /** Where its first database is. */
  readonly url: string;
  /** Creates an empty database; resolves with its address. */
  createDatabase(): Promise<string>;
  /** Ends each of its processes at once, as a power cut would (`kill -9`). */
  kill(): Promise<void>;
  /** Stops each of its processes where it is (SIGSTOP), until `resume`. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Starts it again at the same address, after `kill`, or ending it in order first. */
  restart(): Promise<void>;
  /** Ends it and removes all it kept. */
  stop(): Promise<void>;
}

/** Starts a server; whoever starts it stops it. */
export function startPostgres(_options: StartPostgresOptions = {}): Promise<PostgresServer> {
  throw new Error('Cannot start PostgreSQL yet');
}
