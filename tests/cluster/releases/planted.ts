import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { subscribe } from 'node:diagnostics_channel';
import { type IncomingMessage, Server, type ServerResponse } from 'node:http';
import { Socket } from 'node:net';

/**
 * The bugs of planted versions. `node --import` loads this file before a service; it plants the bug that `PLANTED`
 * names, and marks the responses of a version with a bug.
 */
const BUGS = {
  none() {},
  'crash after 20 s': () => void setTimeout(() => process.exit(1), 20_000).unref(),
  /** It is an SQL statement with an error. */
  'broken migration'() {
    if (!process.argv.includes('migrate')) return;
    throw new Error('Planted error: syntax error in migration');
  },
  /** One of ten responses with data fails. */
  '5xx'() {
    let responses = 0;
    failResponses(() => ++responses % 10 === 0);
  },
  /** One of 25 responses with data fails. The trial has passed by then if the start takes less than 30 s. */
  '5xx after a minute'() {
    let responses = 0;
    failResponses(() => process.uptime() > 60 && ++responses % 25 === 0);
  },
  /** The trial has no proxy. */
  '5xx behind a proxy'() {
    const isForwarded = new AsyncLocalStorage<boolean>();
    const { emit } = Server.prototype;
    Server.prototype.emit = function (this: Server, event: string, ...args: never[]) {
      const [request] = args as unknown as [IncomingMessage];
      const found = event === 'request' && 'x-forwarded-for' in request.headers;
      return isForwarded.run(found, () => emit.call(this, event, ...args));
    };
    failResponses(() => isForwarded.getStore() === true);
  },
  /** Each request keeps 384 KiB. */
  'memory leak'() {
    const kept: Buffer[] = [];
    subscribe('http.server.request.start', () => kept.push(Buffer.alloc(384 * 1024, 1)));
  },
  /** The list of version 1 of the catalog has no number of pages. */
  'v1 field missing': () =>
    beforeStringify((value) => {
      const { totalPages, ...others } = Object(value);
      return totalPages === undefined ? value : others;
    }),
  /** A user has the e-mail address of another one. */
  'wrong response body': () =>
    beforeStringify((value) => {
      const { data } = Object(value);
      const isUser = typeof data?.email === 'string';
      return isUser ? { data: { ...data, email: 'other@example.org' } } : value;
    }),
  /** Each request counts for another user: no user ever reaches the rate limit. */
  'limiter off'() {
    const uuid = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
    beforeWrite((text, { remotePort }) =>
      remotePort === 6379 ? text.replace(uuid, () => randomUUID()) : text,
    );
  },
  /** Every command to PostgreSQL takes 300 ms longer. */
  slow() {
    const { write } = Socket.prototype;
    Socket.prototype.write = function (this: Socket, chunk: string, ...rest: never[]) {
      if (this.remotePort !== 5432) return write.call(this, chunk, ...rest);
      setTimeout(() => write.call(this, chunk, ...rest), 300);
      return true;
    };
  },
  'failing readiness'() {
    const { emit } = Server.prototype;
    Server.prototype.emit = function (this: Server, event: string, ...args: never[]) {
      const [request, response] = args as unknown as [{ readonly url: string }, ServerResponse];
      if (event !== 'request' || request.url !== '/readyz') return emit.call(this, event, ...args);
      response.writeHead(503).end();
      return true;
    };
  },
} satisfies Record<string, () => void>;

export type Bug = keyof typeof BUGS;

/** Changes each value that is written as JSON. */
function beforeStringify(change: (value: unknown) => unknown): void {
  const { stringify } = JSON;
  JSON.stringify = (value: unknown, ...rest: never[]) => stringify(change(value), ...rest);
}

/** Some of the responses with data cannot be written: 500. */
function failResponses(isFailing: () => boolean): void {
  beforeStringify((value) => {
    const isResponse = typeof value === 'object' && value !== null && 'data' in value;
    if (isResponse && isFailing()) throw new Error('Planted error');
    return value;
  });
}

/** Changes each text that is written to a socket. */
function beforeWrite(change: (text: string, socket: Socket) => string): void {
  const { write } = Socket.prototype;
  Socket.prototype.write = function (this: Socket, chunk: unknown, ...rest: never[]) {
    const changed = typeof chunk === 'string' ? change(chunk, this) : chunk;
    return write.call(this, changed as string, ...rest);
  };
}

const bug = process.env.PLANTED as Bug;
// A header by which k6 counts the responses of a version with a bug. The services write the head as text.
if (bug !== 'none') {
  beforeWrite((text) =>
    text.startsWith('HTTP/1.1 ') ? text.replace('\r\n', '\r\nx-planted: 1\r\n') : text,
  );
}
BUGS[bug]();
