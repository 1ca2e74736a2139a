import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { type ServiceProcess, startService, type Variables } from '@fw/service/testing';

import { startTrialEdge } from '../../deploy/local/testing/trial-edge.ts';
import { issueToken } from '../../deploy/local/token.ts';

export const SERVICES = ['users', 'catalog', 'reports'] as const;
export type ServiceName = (typeof SERVICES)[number];

/** Where a request goes: to the service itself, or through the edge. */
export type Way = 'direct' | 'edge';

/** The three services as processes of their own, and an edge in front of them. */
export interface System {
  originOf(service: ServiceName, way: Way): string;
  /** A bearer token for reports. */
  readonly token: string;
  stop(): Promise<void>;
}

const SECRET = 'a secret for the tokens of this run only';

/** High enough that no run is limited. */
const UNLIMITED = {
  RATE_LIMIT_FREE: '1000000',
  RATE_LIMIT_PRO: '1000000',
  RATE_LIMIT_INVALID_TOKENS: '1000000',
};

/** Starts the system on free ports, with SQLite in a temporary folder. */
export async function startSystem(): Promise<System> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'conformance-'));
  const stack = new AsyncDisposableStack();
  stack.defer(() => fs.rmSync(folder, { recursive: true, force: true }));
  const start = async (name: ServiceName, variables: Variables): Promise<ServiceProcess> => {
    const main = new URL(`../../services/${name}/src/main.ts`, import.meta.url);
    const service = await startService(main, variables);
    stack.defer(async () => {
      service.signal('SIGKILL');
      await service.ended;
    });
    return service;
  };

  try {
    const [users, catalog] = await Promise.all(
      (['users', 'catalog'] as const).map((name) =>
        start(name, { DATABASE_FILE: path.join(folder, `${name}.db`) }),
      ),
    );
    if (!users || !catalog) throw new Error('Cannot start the services');
    const reports = await start('reports', {
      ...UNLIMITED,
      JWT_SECRET: SECRET,
      USERS_URL: users.url,
      CATALOG_URL: catalog.url,
    });
    const services = { users, catalog, reports };
    const edge = await startTrialEdge({
      users: [portOf(users)],
      catalog: [portOf(catalog)],
      reports: [portOf(reports)],
    });
    stack.defer(() => edge.stop());
    return {
      originOf: (service, way) => (way === 'edge' ? edge.origin : services[service].url),
      token: issueToken({ secret: SECRET, user: 'ada', tier: 'pro' }),
      stop: () => stack.disposeAsync(),
    };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

function portOf({ url }: ServiceProcess): number {
  return Number(new URL(url).port);
}
