import path from 'node:path';
import {
  isRunning,
  type ProcessPlan,
  type ProcessRecord,
  startProcess,
  stopProcess,
  waitUntilReady,
} from '../../../deploy/local/processes/process.ts';
import { freePort } from '../../../deploy/local/testing/ports.ts';

/** A process of the service. */
export interface Replica {
  readonly port: number;
  /** Resolves once it is ready. */
  start(): Promise<void>;
  /** Kills it (SIGKILL). */
  kill(): Promise<void>;
  /** Suspends it (SIGSTOP) until `resume`: it receives requests, but processes them later. */
  pause(): void;
  resume(): void;
}

export interface ReplicaOptions {
  readonly name: string;
  /** The bundle of the service. */
  readonly bundle: string;
  readonly env: Readonly<Record<string, string>>;
  /** The folder of the log. */
  readonly folder: string;
}

/** Starts a replica, which has the same port after each start. */
export async function startReplica({
  name,
  bundle,
  env,
  folder,
}: ReplicaOptions): Promise<Replica> {
  const [port, healthPort] = [await freePort(), await freePort()];
  const plan: ProcessPlan = {
    name,
    command: process.execPath,
    args: [bundle],
    env: {
      PATH: process.env.PATH ?? '',
      PORT: String(port),
      HEALTH_PORT: String(healthPort),
      TRUST_PROXY: '1',
      LOG_LEVEL: 'error',
      ...env,
    },
    cwd: folder,
    ports: [port, healthPort],
    address: `http://127.0.0.1:${port}`,
    readyUrl: `http://127.0.0.1:${healthPort}/readyz`,
    fingerprint: '',
  };
  let record: ProcessRecord;
  const replica: Replica = {
    port,
    async start() {
      ({ record } = await startProcess(plan, path.join(folder, `${name}.log`)));
      await waitUntilReady(record);
    },
    async kill() {
      if (isRunning(record)) process.kill(record.pid, 'SIGKILL');
      await stopProcess(record);
    },
    pause: () => void process.kill(record.pid, 'SIGSTOP'),
    resume: () => void process.kill(record.pid, 'SIGCONT'),
  };
  await replica.start();
  return replica;
}
