import { setTimeout as sleep } from 'node:timers/promises';

import { docker, dockerOutputs } from './docker.ts';

export interface ContainerOptions {
  readonly image: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Arguments of the service: `migrate`. */
  readonly args?: readonly string[];
  /** The limit, in mebibytes. Default 256. */
  readonly memoryMiB?: number;
  /** Whether there is a volume for the store. Default: yes. */
  readonly hasData?: boolean;
  /** Folders of this machine by where the container finds them, to be read. */
  readonly folders?: Readonly<Record<string, string>>;
}

/** How a container ended, and all it wrote. */
export interface Ending {
  readonly code: number;
  readonly isOutOfMemory: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

/** A container as a cluster runs it: a root that is read-only, no rights, a limit of memory. */
export class Container implements AsyncDisposable {
  readonly id: string;

  constructor(id: string) {
    this.id = id;
  }

  /** Starts a container, and does not wait for what runs in it. */
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

  /** Where this machine reaches a port of the container. */
  async address(port: number): Promise<string> {
    return `http://${await docker('port', this.id, String(port))}`;
  }

  /**
   * Resolves once the service says that it is ready.
   *
   * @throws {Error} with what it wrote, if it ends before that or takes half a minute
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

  /** A field of the engine's record of the container: `StartedAt`. */
  state(field: string): Promise<string> {
    return docker('inspect', '--format', `{{.State.${field}}}`, this.id);
  }

  signal(name: NodeJS.Signals): Promise<string> {
    return docker('kill', `--signal=${name}`, this.id);
  }

  async ended(): Promise<Ending> {
    const code = Number(await docker('wait', this.id));
    const isOutOfMemory = (await this.state('OOMKilled')) === 'true';
    return { code, isOutOfMemory, ...(await this.output()) };
  }

  /** What the service has written so far. */
  output(): Promise<{ readonly stdout: string; readonly stderr: string }> {
    return dockerOutputs('logs', this.id);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await docker('rm', '--force', '--volumes', this.id);
  }
}
