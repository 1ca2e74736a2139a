import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { Connection } from './connection.ts';

/** What a client does without further options. */
export interface Behaviour {
  /** The request of a read, such as `GET /notes/7`. */
  readonly request: string;
  /** What the caller gets for a 404, and if the server cannot be reached. */
  readonly failures: string;
  /** Whether it repeats a read after a 503. */
  readonly retries: boolean;
  /** Whether a creation has an `Idempotency-Key`. */
  readonly idempotencyKey: boolean;
  /** Whether the second read of a resource is conditional. */
  readonly conditional: boolean;
  /** Whether requests have an id. */
  readonly requestId: boolean;
  /** Whether it sends files as multipart forms. */
  readonly upload: boolean;
}

const NOTE = { id: '7', text: '' };

/** A note as REST APIs, tRPC and oRPC send it. */
const BODY = JSON.stringify({ ...NOTE, result: { data: NOTE }, json: NOTE });

type Respond = (res: ServerResponse) => void;

const sendNote: Respond = (res) =>
  res.writeHead(200, { 'content-type': 'application/json', etag: '"1"' }).end(BODY);

const sendProblem =
  (status: number): Respond =>
  (res) => {
    const headers = { 'content-type': 'application/problem+json', 'retry-after': '0' };
    res.writeHead(status, headers).end(JSON.stringify({ status, detail: 'No', code: 'NO' }));
  };

/** Observes the requests and results of a client. */
export async function observe(connect: (baseUrl: string) => Connection): Promise<Behaviour> {
  const plain = await startServer();
  const client = connect(plain.baseUrl);
  await settle(client.read());
  await settle(client.read());
  await settle(client.create());
  await settle(client.upload(new File(['content'], 'a.txt')));
  const [read, again, created, uploaded] = plain.received;
  plain.respond = sendProblem(404);
  const missing = await settle(client.read());
  plain.respond = sendProblem(503);
  plain.received.length = 0;
  await settle(client.read());
  const attempts = plain.received.length;
  await plain.stop();
  const unreachable = await settle(connect(plain.baseUrl).read());

  return {
    request: `${read?.method} ${read?.url}`,
    failures: missing === unreachable ? missing : `${missing}; ${unreachable}`,
    retries: attempts > 1,
    idempotencyKey: created?.headers['idempotency-key'] !== undefined,
    conditional: again?.headers['if-none-match'] !== undefined,
    requestId: read?.headers['x-request-id'] !== undefined,
    upload: /^multipart\/form-data/.test(uploaded?.headers['content-type'] ?? ''),
  };
}

/** Describes what a call returns or throws. */
async function settle(call: Promise<unknown>): Promise<string> {
  return call.then(describe, (error: Error) => `throws ${error.constructor.name}`);
}

function describe(value: unknown): string {
  if (value instanceof Response) return 'returns the Response';
  const hasError = typeof value === 'object' && value !== null && 'error' in value;
  return hasError ? 'returns { error }' : 'returns { status, body }';
}

interface Received {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
}

async function startServer() {
  const state = { respond: sendNote, received: [] as Received[] };
  const server = createServer((req, res) => {
    state.received.push({ method: req.method, url: req.url, headers: req.headers });
    req.resume().once('end', () => state.respond(res));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const stop = async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return Object.assign(state, { baseUrl, stop });
}
