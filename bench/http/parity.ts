import { isDeepStrictEqual } from 'node:util';

import { EXCHANGES, type Exchange, REFUSED_BODY, type Workload } from './workloads.ts';

/**
 * Checks that the contestant on `port` answers `workload` as every other one does, that it refuses a
 * body which is not what it expects, and that it does not know any other path.
 *
 * @throws {Error} saying what differs
 */
export async function checkParity(port: number, workload: Workload): Promise<void> {
  for (const exchange of EXCHANGES[workload]) {
    const response = await send(port, exchange);
    const [mediaType = ''] = (response.headers.get('content-type') ?? 'none').split(';');
    const text = await response.text();
    if (response.status !== exchange.status) {
      throw differs(exchange, `status ${response.status} instead of ${exchange.status}: ${text}`);
    }
    if (mediaType !== 'application/json') {
      throw differs(exchange, `${mediaType} instead of application/json`);
    }
    if (!isDeepStrictEqual(JSON.parse(text), exchange.answer)) {
      throw differs(exchange, `${text} instead of ${JSON.stringify(exchange.answer)}`);
    }
  }
  const [known] = EXCHANGES[workload];
  if (!known) return;
  if (known.body !== undefined) await checkStatus(port, { ...known, body: REFUSED_BODY }, 400);
  await checkStatus(port, { ...known, path: '/no/such/path' }, 404);
}

async function checkStatus(port: number, exchange: Exchange, status: number): Promise<void> {
  const response = await send(port, exchange);
  await response.body?.cancel();
  if (response.status === status) return;
  const sent = exchange.body === undefined ? '' : ` to ${exchange.body}`;
  throw differs(exchange, `status ${response.status} instead of ${status}${sent}`);
}

function send(port: number, { method, path, body }: Exchange): Promise<Response> {
  return fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    ...(body === undefined ? {} : { body, headers: { 'content-type': 'application/json' } }),
  });
}

function differs({ method, path }: Exchange, how: string): Error {
  return new Error(`answers ${method} ${path} with ${how}`);
}
