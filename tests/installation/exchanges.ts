import { request } from 'node:http';

/** A request, and the status of its response. */
export interface Exchange {
  readonly status: number;
  readonly path: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** What a client sees of a response. */
export interface Received {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

const JSON_TYPE = { 'Content-Type': 'application/json' };
const ADA = JSON.stringify({ name: 'Ada', email: 'ada@example.org' });

export const USERS: readonly Exchange[] = [
  { status: 200, path: '/users' },
  { status: 201, path: '/users', method: 'POST', headers: JSON_TYPE, body: ADA },
  { status: 409, path: '/users', method: 'POST', headers: JSON_TYPE, body: ADA },
  { status: 400, path: '/users', method: 'POST', headers: JSON_TYPE, body: '{"name":""}' },
  { status: 400, path: '/users', method: 'POST', headers: JSON_TYPE, body: '{"name":' },
  {
    status: 413,
    path: '/users',
    method: 'POST',
    headers: JSON_TYPE,
    body: `"${'a'.repeat(5000)}"`,
  },
  {
    status: 415,
    path: '/users',
    method: 'POST',
    headers: { 'Content-Type': 'text/plain' },
    body: ADA,
  },
  { status: 200, path: '/users?limit=1' },
  { status: 400, path: '/users?limit=0' },
  { status: 200, path: '/users/1' },
  { status: 200, path: '/users/1', method: 'HEAD' },
  { status: 200, path: '/users/1', method: 'PUT', headers: JSON_TYPE, body: ADA },
  { status: 404, path: '/users/2' },
  { status: 405, path: '/users/1', method: 'PATCH' },
  { status: 200, path: '/users/1', method: 'OPTIONS' },
  { status: 204, path: '/users/1', method: 'DELETE' },
  { status: 404, path: '/users/1' },
  { status: 404, path: '/other' },
  { status: 400, path: '/users/..%2f' },
  { status: 200, path: '/openapi.json' },
  { status: 400, path: '/a/../b' },
  { status: 400, path: '/%zz' },
];

/** Sends the requests in order; returns their responses without the parts that differ each time. */
export async function exchange(origin: string, list: readonly Exchange[]): Promise<Received[]> {
  const received: Received[] = [];
  for (const each of list) received.push(withoutIds(await send(origin, each)));
  return received;
}

/** Sends a request whose path is not normalised. */
function send(
  origin: string,
  { path, method = 'GET', headers, body }: Exchange,
): Promise<Received> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, path, method, headers, agent: false });
    sent.on('error', reject).on('response', async (response) => {
      const chunks = await response.toArray().catch(reject);
      const text = Buffer.concat(chunks ?? []).toString();
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text });
    });
    sent.end(body);
  });
}

const REQUEST_ID = /\b[\da-f]{32}\b/g;

function withoutIds({ status, headers, body }: Received): Received {
  const { date: _date, ...others } = JSON.parse(JSON.stringify(headers).replace(REQUEST_ID, 'ID'));
  return { status, headers: others, body: body.replace(REQUEST_ID, 'ID') };
}
