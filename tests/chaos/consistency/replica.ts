import { freePort } from '../../../deploy/local/testing/ports.ts';
import { type Processes, startProcesses } from '../processes.ts';

/** A process of the service, which has the same port after each start. */
export interface Replica extends Pick<Processes, 'kill' | 'restart' | 'pause' | 'resume'> {
  readonly port: number;
}

export interface ReplicaOptions {
  readonly name: string;
  /** The bundle of the service. */
  readonly bundle: string;
  readonly env: Readonly<Record<string, string>>;
  /** The folder of the log. */
  readonly folder: string;
}

/** Starts a replica. While it is paused, it receives requests, and processes them later. */
export async function startReplica({
  name,
  bundle,
  env,
  folder,
}: ReplicaOptions): Promise<Replica> {
  const [port, healthPort] = [await freePort(), await freePort()];
  const plan = {
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
  return { port, ...(await startProcesses([plan], folder)) };
}
