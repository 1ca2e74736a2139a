import { execFile, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Runs the Docker command line and returns its standard output. @throws {Error} with its output, if it fails */
export async function docker(...args: readonly string[]): Promise<string> {
  try {
    const { stdout } = await run('docker', args, { maxBuffer: 64 * 1024 ** 2 });
    return stdout.trimEnd();
  } catch (cause) {
    // The classic builder and "docker exec" print the reason to standard output.
    const { message, stdout = '' } = cause as Error & { readonly stdout?: string };
    throw new Error(`${message}${stdout.slice(-2_000)}`, { cause });
  }
}

/** Why this machine cannot build the images; undefined if it can. Pulls the base images if they are missing. */
export function missingEngine(): string | undefined {
  const succeeds = (...args: readonly string[]) =>
    spawnSync('docker', args, { timeout: 300_000, stdio: 'ignore' }).status === 0;
  if (!succeeds('version')) return 'no Docker engine responds';
  const dockerfile = fs.readFileSync(path.join(import.meta.dirname, '../../Dockerfile'), 'utf8');
  const defaults = dockerfile.matchAll(/^ARG (BUILD_IMAGE|RUN_IMAGE)=(.+)$/gm);
  for (const [, name = '', standard = ''] of defaults) {
    const image = process.env[name] || standard;
    if (succeeds('image', 'inspect', image) || succeeds('pull', '--quiet', image)) continue;
    return `${name} is "${image}", which is unavailable`;
  }
  return undefined;
}

export interface ContainerOptions {
  readonly image: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Memory limit in MiB. Default 256. */
  readonly memoryMiB?: number;
  /** Read-only volumes: folders of this machine by their path in the container. */
  readonly folders?: Readonly<Record<string, string>>;
}

/** Exit code and output of a container. */
export interface ContainerResult {
  readonly code: number;
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
    const { image, env = {}, memoryMiB = 256, folders = {} } = options;
    const id = await docker(
      'run',
      '--detach',
      '--pull=never',
      '--read-only',
      '--cap-drop=ALL',
      '--security-opt=no-new-privileges',
      `--memory=${memoryMiB}m`,
      '--tmpfs=/data:uid=65532,mode=700',
      ...Object.entries(folders).map(([inside, here]) => `--volume=${here}:${inside}:ro`),
      '--publish=127.0.0.1::8080',
      '--publish=127.0.0.1::9090',
      ...Object.entries(env).map(([name, value]) => `--env=${name}=${value}`),
      image,
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
    while (performance.now() < deadline && (await this.isRunning())) {
      const response = await fetch(`${health}/readyz`).catch(() => undefined);
      if (response?.ok) return;
      await sleep(50);
    }
    const { stdout, stderr } = await this.output();
    throw new Error(`The service is not ready: ${stdout}${stderr}`);
  }

  async isRunning(): Promise<boolean> {
    return (await docker('inspect', '--format', '{{.State.Running}}', this.id)) === 'true';
  }

  signal(name: NodeJS.Signals): Promise<string> {
    return docker('kill', `--signal=${name}`, this.id);
  }

  async ended(): Promise<ContainerResult> {
    const code = Number(await docker('wait', this.id));
    return { code, ...(await this.output()) };
  }

  /** The output of the service so far. */
  output(): Promise<{ readonly stdout: string; readonly stderr: string }> {
    return run('docker', ['logs', this.id], { maxBuffer: 64 * 1024 ** 2 });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await docker('rm', '--force', '--volumes', this.id);
  }
}
