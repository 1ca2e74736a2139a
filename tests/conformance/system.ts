import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { type ServiceProcess, startService, type Variables } from '@fw/service/testing';

import { startTrialEdge } from '../../deploy/local/testing/trial-edge.ts';
import { issueToken } from '../../deploy/local/token.ts';
import { SERVICES, type ServiceName } from '../../services/services.ts';

/** Whether a request is sent to the service itself or through the edge. */
export type Way = 'direct' | 'edge';

/** Every service as a process, and an edge in front of them. */
export interface System {
  originOf(service: ServiceName, way: Way): string;
  /** A bearer token for reports. */
  readonly token: string;
  stop(): Promise<void>;
}

const SECRET = 'a secret for the tokens of conformance runs';

/** Limits that no run reaches. */
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
    const urls: Record<string, string> = {};
    // In this list, a service follows the services that it calls.
    for (const { name, store, authenticated, calls } of SERVICES) {
      const { url } = await start(name, {
        ...(store === 'database' && { DATABASE_FILE: path.join(folder, `${name}.db`) }),
        ...(authenticated && { ...UNLIMITED, JWT_SECRET: SECRET }),
        ...Object.fromEntries(calls.map((other) => [`${other.toUpperCase()}_URL`, urls[other]])),
      });
      urls[name] = url;
    }
    const ports = Object.entries(urls).map(([name, url]) => [name, [Number(new URL(url).port)]]);
    const edge = await startTrialEdge(Object.fromEntries(ports));
    stack.defer(() => edge.stop());
    return {
      originOf: (service, way) => (way === 'edge' ? edge.origin : (urls[service] ?? '')),
      token: issueToken({ secret: SECRET, user: 'ada', tier: 'pro' }),
      stop: () => stack.disposeAsync(),
    };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}
