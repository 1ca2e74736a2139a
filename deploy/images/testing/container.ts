import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

import { docker } from '../docker.ts';

export interface ContainerOptions {
  readonly image: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Arguments of the service: `migrate`. */
  readonly args?: readonly string[];
  /** Memory limit in MiB. Default 256. */
  readonly memoryMiB?: number;
  /** Whether there is a volume at `/data`. Default true. */
  readonly hasData?: boolean;
  /** Read-only volumes: folders of this machine by their path in the container. */
  readonly folders?: Readonly<Record<string, string>>;
}

/** Exit code and output of a container. */
export interface ContainerResult {
  readonly code: number;
  readonly isOutOfMemory: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

/** A container as a cluster runs it: read-only root, no capabilities, a memory limit. */
export class Container implements AsyncDisposable {
  readonly id: string;

  constructor(id: string) {
    this.id = id;
  }

  /** Starts a container without waiting for the service. */
  static async start(options: ContainerOptions): Promise<Container> {
    const { image, env = {}, args = [], memoryMiB = 256, hasData = true, folders = {} } = options;
    const id = await docker(
      'run',
      '--detach',
      '--pull=never',
      '--read-only',
      '--cap-drop=ALL',
      '--security-opt=no-new-privileges',
      `--memory=${memoryMiB}m`,
      ...(hasData ? ['--tmpfs=/data:uid=65532,mode=700'] : []),
      ...Object.entries(folders).map(([inside, here]) => `--volume=${here}:${inside}:ro`),
      '--publish=127.0.0.1::8080',
      '--publish=127.0.0.1::9090',
      ...Object.entries(env).map(([name, value]) => `--env=${name}=${value}`),
      image,
      ...args,
    );
    return new Container(id);
  }

  /** The address of a port of the container. */
  async address(port: number): Promise<string> {
    return `http://${await docker('port', this.id, String(port))}`;
  }

  /**
   * Waits until the service is ready.
   *
   * @throws {Error} with its output, if it exits before that or is not ready after 30 s
   */
  async ready(): Promise<void> {
    const health = await this.address(9090).catch(() => undefined);
    const deadline = performance.now() + 30_000;
    while (performance.now() < deadline && (await this.state('Running')) === 'true') {
      const response = await fetch(`${health}/readyz`).catch(() => undefined);
      if (response?.ok) return;
      await sleep(50);
    }
    const { stdout, stderr } = await this.output();
    throw new Error(`The service is not ready: ${stdout}${stderr}`);
  }

  /** A field of the container's state, such as `StartedAt`. */
  state(field: string): Promise<string> {
    return docker('inspect', '--format', `{{.State.${field}}}`, this.id);
  }

  signal(name: NodeJS.Signals): Promise<string> {
    return docker('kill', `--signal=${name}`, this.id);
  }

  async ended(): Promise<ContainerResult> {
    const code = Number(await docker('wait', this.id));
    const isOutOfMemory = (await this.state('OOMKilled')) === 'true';
    return { code, isOutOfMemory, ...(await this.output()) };
  }

  /** The output of the service so far. */
  output(): Promise<{ readonly stdout: string; readonly stderr: string }> {
    return promisify(execFile)('docker', ['logs', this.id], { maxBuffer: 64 * 1024 ** 2 });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await docker('rm', '--force', '--volumes', this.id);
  }
}
