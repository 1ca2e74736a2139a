import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';

import { planEdge } from '../../deploy/local/processes/edge.ts';
import { ensureTool } from '../../deploy/local/tools.ts';
import { accepts, freePort } from '../listening.ts';
import { LOAD_CORE, startProcess, stopProcess } from '../process.ts';

/** The edge of the local system in front of one contestant. */
export interface Edge {
  readonly port: number;
  stop(): Promise<void>;
}

const PATIENCE_MS = 10_000;

/**
 * Starts nginx on the configuration of the local system, with `port` behind each of its paths. What it
 * writes goes below `prefix`.
 */
export async function startEdge(port: number, prefix: string): Promise<Edge> {
  const edgePort = await freePort();
  const upstreams = { users: [port], catalog: [port], reports: [port] };
  const { command, args } = planEdge({
    nginx: ensureTool('nginx'),
    port: edgePort,
    upstreams,
    prefix,
  });
  const child = startProcess([command, ...args], { core: LOAD_CORE, quiet: true });
  await untilListening(child, edgePort);
  return {
    port: edgePort,
    stop: () => stopProcess(child),
  };
}

async function untilListening(child: ChildProcess, port: number): Promise<void> {
  let complaint = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    complaint += chunk.toString();
  });
  const deadline = performance.now() + PATIENCE_MS;
  while (!(await accepts(port))) {
    if (child.exitCode !== null || performance.now() > deadline) {
      throw new Error(`nginx does not start: ${complaint || 'it is silent'}`);
    }
    await sleep(5);
  }
}
