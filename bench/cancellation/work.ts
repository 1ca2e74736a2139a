import { setTimeout as sleep } from 'node:timers/promises';

import pg from 'pg';

/** The situations in which clients leave, and the paths of the routes. */
export const CASES = ['body', 'query', 'call', 'stream', 'events', 'websocket'] as const;
export type Case = (typeof CASES)[number];

/** What runs on behalf of clients. `sources` are generators and timers whose data is sent. */
export interface Running {
  handlers: number;
  sources: number;
}

/** A framework, as `contestants/<name>.ts` exports it. */
export interface Contestant {
  /** Its packages; the report prints their versions. */
  readonly packages: readonly string[];
  /** A case that is not measured: the framework itself has nothing for it. */
  readonly without?: Case;
  /** Serves the routes on a free port of 127.0.0.1 and returns the port. */
  start(work: Work): Promise<number>;
}

export type Work = ReturnType<typeof createWork>;

export const SLOW_QUERY = 'SELECT pg_sleep(60)';
const CHUNK = 'x'.repeat(16_384);

/** The work of the routes, counted while it runs. */
export function createWork(postgresUrl: string, serviceUrl: string) {
  const running: Running = { handlers: 0, sources: 0 };
  const pool = new pg.Pool({ connectionString: postgresUrl });

  /** Counts `run` as a handler. */
  async function handle<T>(run: () => Promise<T>): Promise<T> {
    running.handlers++;
    try {
      return await run();
    } finally {
      running.handlers--;
    }
  }

  return {
    running,
    postgresUrl,
    /** Reads a body of any kind. */
    body: (chunks: AsyncIterable<unknown> | null) =>
      handle(async () => {
        for await (const _ of chunks ?? []);
      }),
    /** Handlers that wait for a query of pg, which takes no signal, or for a service. */
    waiting: {
      query: (_signal: AbortSignal) => handle(() => pool.query(SLOW_QUERY)),
      call: (signal: AbortSignal) =>
        handle(async () => (await fetch(serviceUrl, { signal })).text()),
    },
    handle,
    /** A download without an end. */
    async *chunks() {
      running.sources++;
      try {
        for (;;) yield CHUNK;
      } finally {
        running.sources--;
      }
    },
    /** One event; the next one is a minute away. */
    async *events(signal: AbortSignal) {
      running.sources++;
      try {
        yield 'first';
        await sleep(60_000, undefined, { signal });
      } finally {
        running.sources--;
      }
    },
    /** Calls `send` now and every minute, until the result is called. */
    repeat(send: () => unknown): () => void {
      running.sources++;
      send();
      const timer = setInterval(send, 60_000);
      return () => {
        clearInterval(timer);
        running.sources--;
      };
    },
  };
}
