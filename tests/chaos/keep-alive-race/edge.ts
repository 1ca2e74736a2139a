import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { planEdge } from '../../../deploy/local/processes/edge.ts';
import {
  startProcess,
  stopProcess,
  waitUntilReady,
} from '../../../deploy/local/processes/process.ts';
import { freePort } from '../../../deploy/local/testing/ports.ts';
import { ensureTool } from '../../../deploy/local/tools.ts';

/** An nginx in front of one replica of users. */
export interface Edge {
  readonly origin: string;
  stop(): Promise<void>;
}

/**
 * Starts the edge of the local system.
 *
 * @param idleSeconds replaces the time for which the edge keeps idle connections to the service
 */
export async function startEdge(usersPort: number, idleSeconds?: number): Promise<Edge> {
  const prefix = fs.mkdtempSync(path.join(os.tmpdir(), 'fw-race-'));
  const port = await freePort();
  const unused = await freePort();
  const upstreams = { users: [usersPort], catalog: [unused], reports: [unused] };
  const plan = planEdge({ nginx: ensureTool('nginx'), port, prefix, upstreams });
  if (idleSeconds !== undefined) keepLonger(path.join(prefix, 'upstreams.conf'), idleSeconds);
  const { record } = await startProcess(plan, path.join(prefix, 'edge.log'));
  const stop = async () => {
    await stopProcess(record);
    fs.rmSync(prefix, { recursive: true });
  };
  await waitUntilReady(record);
  return { origin: `http://127.0.0.1:${port}`, stop };
}

function keepLonger(file: string, seconds: number): void {
  const text = fs.readFileSync(file, 'utf8');
  fs.writeFileSync(file, text.replaceAll('keepalive_timeout 3s', `keepalive_timeout ${seconds}s`));
}
