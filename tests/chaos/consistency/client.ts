import { once } from 'node:events';
import http from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

/** The fields of a user that a client sends. */
interface Content {
  readonly name: string;
  readonly email: string;
}

/** A user in a response. */
interface UserState extends Content {
  readonly id: string;
  readonly version: number;
}

/** What a client requests. */
export type Request =
  /** `key` is the number of the idempotency key in its group. */
  | ({ readonly kind: 'create'; readonly key: number } & Content)
  | { readonly kind: 'read'; readonly id: string }
  /** `ifVersion` is the version in `If-Match`. */
  | ({
      readonly kind: 'change';
      readonly id: string;
      readonly ifVersion: number;
    } & Partial<Content>)
  | { readonly kind: 'delete'; readonly id: string; readonly ifVersion?: number };

/** A response. */
export interface Outcome {
  readonly status: number;
  readonly user?: UserState;
}

/** Sends the operations of all groups over persistent connections. */
export interface Client {
  /** Resolves with `undefined` if the outcome is unknown: no response, or a failure of the system. */
  send(group: string, request: Request): Promise<Outcome | undefined>;
  /** Resolves once the system responds again. @throws {Error} after a minute */
  untilAvailable(): Promise<void>;
  /** Resets all connections, also those that wait for a response. */
  reset(): void;
  close(): void;
}

interface Message {
  readonly method: string;
  readonly path: string;
  readonly headers?: http.OutgoingHttpHeaders;
  readonly body?: string;
}

const PATH = '/api/v2/users';
const TIMEOUT_MS = 1_000;
const MAX_OUTAGE_MS = 60_000;
/** The statuses that the model predicts. */
const EXPECTED = [200, 201, 404, 409, 412, 422];
/** The system could not process the request, or its result was lost. */
const UNAVAILABLE = [502, 503, 504];

/** Creates a client of the system at `origin`. */
export function createClient(origin: string): Client {
  const agent = new http.Agent({ keepAlive: true });
  let available: Promise<void> | undefined;

  async function send(group: string, request: Request): Promise<Outcome | undefined> {
    const message = messageOf(group, request);
    const response = await exchange(origin, agent, message).catch(() => undefined);
    if (!response || UNAVAILABLE.includes(response.status)) return undefined;
    const { status, text } = response;
    if (!EXPECTED.includes(status)) {
      throw new Error(`${message.method} ${message.path} got an unexpected ${status}: ${text}`);
    }
    return { status, ...(status < 300 && userOf(text)) };
  }

  async function poll(): Promise<void> {
    const endMs = performance.now() + MAX_OUTAGE_MS;
    while (!(await send('', { kind: 'read', id: 'none' }))) {
      if (performance.now() > endMs) throw new Error('The system did not recover within a minute');
      await sleep(20);
    }
    available = undefined;
  }

  return {
    send,
    untilAvailable() {
      available ??= poll();
      return available;
    },
    reset() {
      for (const socket of Object.values(agent.sockets).flat()) socket?.resetAndDestroy();
    },
    close: () => agent.destroy(),
  };
}

function messageOf(group: string, request: Request): Message {
  switch (request.kind) {
    case 'create': {
      const { key, name, email } = request;
      const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': `${group}-${key}` };
      return { method: 'POST', path: PATH, headers, body: JSON.stringify({ name, email }) };
    }
    case 'read':
      return { method: 'GET', path: `${PATH}/${request.id}` };
    case 'change': {
      const { id, ifVersion, name, email } = request;
      const type = { 'Content-Type': 'application/merge-patch+json' };
      const headers = { ...type, ...ifMatch(ifVersion) };
      return {
        method: 'PATCH',
        path: `${PATH}/${id}`,
        headers,
        body: JSON.stringify({ name, email }),
      };
    }
    case 'delete':
      return {
        method: 'DELETE',
        path: `${PATH}/${request.id}`,
        headers: ifMatch(request.ifVersion),
      };
  }
}

function ifMatch(version: number | undefined): http.OutgoingHttpHeaders {
  return version === undefined ? {} : { 'If-Match': `"${version}"` };
}

/** @throws {Error} if the connection ends before the response, or after `TIMEOUT_MS` */
async function exchange(origin: string, agent: http.Agent, message: Message) {
  const { method, path, headers = {}, body } = message;
  const request = http.request(origin + path, { agent, method, headers });
  request.on('error', () => {}); // the following promises reject
  const timer = setTimeout(() => request.destroy(), TIMEOUT_MS);
  try {
    request.end(body);
    const [response] = (await once(request, 'response')) as [http.IncomingMessage];
    return { status: response.statusCode ?? 0, text: await readText(response) };
  } finally {
    clearTimeout(timer);
  }
}

function userOf(text: string): { readonly user?: UserState } {
  const { data } = JSON.parse(text) as { readonly data?: UserState };
  if (!data) return {};
  const { id, name, email, version } = data;
  return { user: { id, name, email, version } };
}
