import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { SERVICE_NAMES } from '../../../services/services.ts';
import { ensureTool } from '../../../tools/programs.ts';
import { type EdgeOptions, planEdge, type Upstreams } from '../processes/edge.ts';
import type { ProcessPlan } from '../processes/process.ts';
import { upstreamsOf } from '../processes/system.ts';
import { freePort } from './ports.ts';
import { startProgram } from './program.ts';

/** An edge for a test. */
export interface TrialEdge {
  readonly origin: string;
  readonly plan: ProcessPlan;
  /** Its output so far. */
  log(): string;
  stop(): Promise<void>;
}

export interface TrialEdgeOptions
  extends Pick<EdgeOptions, 'limits' | 'replicas' | 'links' | 'statsdPort'> {
  /** Changes the files of the edge, which are in the folder `prefix`, before nginx reads them. */
  readonly prepare?: (prefix: string) => void;
}

/**
 * For `prepare`: what deploy/nginx/README.md recommends for streams and WebSockets. nginx counts a replica
 * as failed until a request to it has ended.
 */
export function allowLongRequests(prefix: string): void {
  const file = path.join(prefix, 'upstreams.conf');
  const text = fs.readFileSync(file, 'utf8').replace(/max_conns=\d+ /g, '');
  fs.writeFileSync(file, text.replaceAll('fail_timeout=1s', 'max_fails=0'));
}

/** An upstream at which no server listens. */
const UNUSED = upstreamsOf(SERVICE_NAMES.map((service) => ({ service, port: 1 })));

/** Starts the real nginx with the real configuration on a free port. The default of an upstream has no server. */
export async function startTrialEdge(
  upstreams: Partial<Upstreams>,
  { prepare = () => {}, ...options }: TrialEdgeOptions = {},
): Promise<TrialEdge> {
  const nginx = ensureTool('nginx');
  const port = await freePort();
  const prefix = fs.mkdtempSync(path.join(os.tmpdir(), 'fw-edge-'));
  const plan = planEdge({
    nginx,
    port,
    prefix,
    upstreams: { ...UNUSED, ...upstreams },
    ...options,
  });
  prepare(prefix);
  const remove = () => fs.rmSync(prefix, { recursive: true });
  const { command, args, env, cwd, readyUrl: ready } = plan;
  const program = await startProgram([command, ...args], { env, cwd, ready, isGroup: true }).catch(
    (error: unknown) => {
      remove();
      throw error;
    },
  );
  const stop = async () => {
    await program.stop();
    remove();
  };
  return { origin: `http://127.0.0.1:${port}`, plan, log: program.output, stop };
}
