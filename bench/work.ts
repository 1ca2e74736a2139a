import { finished, type Readable } from 'node:stream';
import { setInterval as everyInterval } from 'node:timers/promises';

import pg from 'pg';

/** The situations in which clients leave: routes with this path. */
export const CASES = ['body', 'query', 'call', 'stream', 'events', 'websocket'] as const;
export type Case = (typeof CASES)[number];

/** What runs on behalf of clients. `sources` are generators, timers and sockets whose data is sent. */
export interface Running {
  handlers: number;
  sources: number;
}

export interface WorkOptions {
  /** PostgreSQL, for the route `query`. */
  readonly postgresUrl: string;
  /** A slow service, for the route `call`. */
  readonly serviceUrl: string;
  /** The time between two events. */
  readonly eventMs: number;
}

export type Work = ReturnType<typeof createWork>;

export const SLOW_QUERY = 'SELECT pg_sleep(60)';
const CHUNK = 'x'.repeat(16_384);

/** The work of the routes that wait or send without an end, counted while it runs. */
export function createWork({ postgresUrl, serviceUrl, eventMs }: WorkOptions) {
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
    /** Waits for a query of pg, which takes no signal. */
    query: () => handle(() => pool.query(SLOW_QUERY)),
    call: (signal: AbortSignal) => handle(async () => (await fetch(serviceUrl, { signal })).text()),
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
    /** `event` immediately, then once per interval. */
    async *events<Event>(event: Event, signal: AbortSignal) {
      running.sources++;
      try {
        yield event;
        for await (const _ of everyInterval(eventMs, undefined, { signal })) yield event;
      } finally {
        running.sources--;
      }
    },
    /** Calls `send` immediately and once per interval, until the result is called. */
    repeat(send: () => unknown): () => void {
      running.sources++;
      send();
      const timer = setInterval(send, eventMs);
      return () => {
        clearInterval(timer);
        running.sources--;
      };
    },
    /** Call these when a WebSocket was opened and closed. */
    opened: () => void running.sources++,
    closed: () => void running.sources--,
  };
}

/** The length of a body, once it ends or is aborted. */
export function countBytes(body: Readable): Promise<number> {
  return new Promise((resolve) => {
    let bytes = 0;
    body.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    finished(body, () => resolve(bytes));
  });
}
