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

/** The number of requests by client. */
interface VersionClients {
  readonly version: string;
  readonly counts: Map<string, number>;
}

/** Creates the counter of requests by version and client, with a bounded number of series. */
export function createClientCounter(register: Registry): (request: ClientRequest) => void {
  const clientsByPath = new Map<string, VersionClients>();
  new Counter({
    name: 'api_requests_total',
    help: 'Requests by version of the API and name of the client.',
    labelNames: ['version', 'path', 'client'],
    registers: [register],
    collect() {
      this.reset();
      for (const [path, { version, counts }] of clientsByPath) {
        for (const [client, count] of counts) this.inc({ version, path, client }, count);
      }
    },
  });
  return ({ version, path, client }) => {
    const counts = clientsByPath.get(path)?.counts ?? new Map<string, number>();
    if (counts.size === 0) clientsByPath.set(path, { version, counts });
    const name = counts.size < MAX_CLIENTS || counts.has(client) ? client : 'other';
    counts.set(name, (counts.get(name) ?? 0) + 1);
  };
}
