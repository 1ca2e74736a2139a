import { Counter, type Registry } from 'prom-client';

/** A request of a client to a version of an API. */
export interface ClientRequest {
  readonly version: string;
  /** The path prefix of the version. */
  readonly path: string;
  readonly client: string;
}

/** Names of clients per version with a series of their own; all further clients share `other`. */
export const MAX_CLIENTS = 100;

/** Creates the counter of requests by version and client, with a bounded number of series. */
export function createClientCounter(register: Registry): (request: ClientRequest) => void {
  const requests = new Counter({
    name: 'api_requests_total',
    help: 'Requests by version of the API and name of the client.',
    labelNames: ['version', 'path', 'client'],
    registers: [register],
  });
  const clients = new Map<string, Set<string>>();
  return ({ version, path, client }) => {
    const known = clients.get(path) ?? new Set();
    clients.set(path, known);
    if (known.size < MAX_CLIENTS) known.add(client);
    requests.inc({ version, path, client: known.has(client) ? client : 'other' });
  };
}
