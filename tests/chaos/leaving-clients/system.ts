import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { type ServiceProcess, startService } from '@fw/service/testing';

import { startTrialEdge } from '../../../deploy/local/testing/trial-edge.ts';
import { issueToken } from '../../../deploy/local/token.ts';
import { nodeOptionsOf } from '../preload.ts';

/** A process of a service that collects its garbage before its metrics are read. */
export interface MeasuredService extends ServiceProcess {
  readonly name: string;
  readonly port: number;
}

/** The three services with one process each, and an edge. */
export interface MeasuredSystem {
  readonly edgePort: number;
  readonly services: readonly MeasuredService[];
  /** A token of reports. */
  readonly token: string;
  stop(): Promise<void>;
}

/** Starts the services with `variables`, and the edge. */
export async function startMeasuredSystem(
  variables: Readonly<Record<string, string>>,
): Promise<MeasuredSystem> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fw-leaving-'));
  const secret = 'a secret that signs only the tokens of this test';
  const start = async (name: string, more: Readonly<Record<string, string>>) => {
    const main = new URL(`../../../services/${name}/src/main.ts`, import.meta.url);
    const service = await startService(main, {
      NODE_OPTIONS: nodeOptionsOf(['collect-garbage']),
      TRUST_PROXY: '1',
      // Idle connections between the services are no longer open when the processes are measured.
      KEEP_ALIVE_TIMEOUT_MS: '1000',
      ...variables,
      ...more,
    });
    return { ...service, name, port: Number(new URL(service.url).port) };
  };
  const file = (name: string) => ({ DATABASE_FILE: path.join(folder, `${name}.db`) });
  const users = await start('users', file('users'));
  const catalog = await start('catalog', file('catalog'));
  const reports = await start('reports', {
    JWT_SECRET: secret,
    USERS_URL: users.url,
    CATALOG_URL: catalog.url,
  });
  const services = [users, catalog, reports];
  const edge = await startTrialEdge({
    users: [users.port],
    catalog: [catalog.port],
    reports: [reports.port],
  });
  const stop = async () => {
    await edge.stop();
    for (const { signal, ended } of services) {
      signal('SIGKILL');
      await ended;
    }
    fs.rmSync(folder, { recursive: true });
  };
  const token = issueToken({ secret, user: 'leaving', tier: 'pro' });
  return { edgePort: Number(new URL(edge.origin).port), services, token, stop };
}
