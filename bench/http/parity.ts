import { isDeepStrictEqual } from 'node:util';

import { type Exchange, exchangesOf, type Workload } from './workloads.ts';

/**
 * Checks that the contestant on `port` sends the expected responses of `workload` with their headers,
 * 400 for an invalid body, 404 for another path, and 401 for a missing or forged token.
 *
 * @throws {Error} that names the difference
 */
export async function checkParity(port: number, workload: Workload): Promise<void> {
  for (const exchange of exchangesOf(workload)) {
    const response = await send(port, exchange);
    const [mediaType = ''] = (response.headers.get('content-type') ?? 'none').split(';');
    const text = await response.text();
    if (response.status !== exchange.status) {
      throw differs(exchange, `status ${response.status} instead of ${exchange.status}: ${text}`);
    }
    if (mediaType !== 'application/json') {
      throw differs(exchange, `${mediaType} instead of application/json`);
    }
    for (const name of exchange.expectedHeaders ?? []) {
      if (!response.headers.has(name)) throw differs(exchange, `no header ${name}`);
    }
    if (!isDeepStrictEqual(JSON.parse(text), exchange.expected)) {
      throw differs(exchange, `${text} instead of ${JSON.stringify(exchange.expected)}`);
    }
  }
  const [known] = exchangesOf(workload);
  if (!known) return;
  const { invalidBody: body } = known;
  if (body !== undefined) await checkStatus(port, { ...known, body }, 400);
  await checkStatus(port, { ...known, path: '/no/such/path' }, 404);
  const { Authorization } = known.headers ?? {};
  if (Authorization === undefined) return;
  await checkStatus(port, { ...known, headers: {} }, 401);
  await checkStatus(port, { ...known, headers: { Authorization: `${Authorization}A` } }, 401);
}

async function checkStatus(port: number, exchange: Exchange, status: number): Promise<void> {
  const response = await send(port, exchange);
  await response.body?.cancel();
  if (response.status === status) return;
  const sent = exchange.body === undefined ? '' : ` to ${exchange.body}`;
  throw differs(exchange, `status ${response.status} instead of ${status}${sent}`);
}

/** Sends one request; a body is JSON, unless `headers` contains another type. */
export function send(
  port: number,
  { method, path, body, headers }: Omit<Exchange, 'status' | 'expected'>,
): Promise<Response> {
  return fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { ...(body !== undefined && { 'Content-Type': 'application/json' }), ...headers },
    ...(body !== undefined && { body }),
  });
}

function differs({ method, path }: Exchange, difference: string): Error {
  return new Error(`${method} ${path}: ${difference}`);
}
