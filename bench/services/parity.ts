import { isDeepStrictEqual } from 'node:util';

import { send } from '../http/parity.ts';
import type { Endpoint } from './endpoints.ts';

const PATHS = 20;
const HEADERS = ['content-type', 'cache-control', 'deprecation', 'etag', 'link', 'vary'];

/**
 * Requests `endpoint` from both servers and compares status, headers that clients act on, and body.
 *
 * @throws {Error} that names the first request with different responses
 */
export async function checkParity(
  endpoint: Endpoint,
  userIds: readonly string[],
  targets: readonly { readonly server: { readonly port: number } }[],
): Promise<void> {
  for (const path of endpoint.paths(userIds).slice(0, PATHS)) {
    const [one, other] = await Promise.all(
      targets.map(({ server }) => respond(server.port, path, endpoint)),
    );
    if (isDeepStrictEqual(one, other)) continue;
    throw new Error(
      `${endpoint.method} ${path} has different responses:\n${JSON.stringify(one)}\n${JSON.stringify(other)}`,
    );
  }
}

async function respond(port: number, path: string, endpoint: Endpoint) {
  const { method, status, headers } = endpoint;
  const response = await send(port, { ...endpoint, path, headers: headers?.() ?? {} });
  const text = await response.text();
  if (response.status !== status) {
    throw new Error(`${method} ${path} on port ${port}: ${response.status} ${text}`);
  }
  const values = HEADERS.map((name) => response.headers.get(name)?.toLowerCase());
  const [type = ''] = values;
  if (!type?.startsWith('application/json')) return { headers: values, body: text };
  const json = JSON.parse(text, withoutGenerated) as unknown;
  return { headers: ['json', ...values.slice(1)], body: json };
}

/** Values that each server generates for a new resource. */
function withoutGenerated(this: unknown, key: string, value: unknown): unknown {
  return ['id', 'createdAt', 'updatedAt'].includes(key) && typeof value === 'string' ? key : value;
}
