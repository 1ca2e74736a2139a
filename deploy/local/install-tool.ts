import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** A program that is built with Go if the machine does not have it. */
export interface GoTool {
  readonly package: string;
  readonly version: string;
  /** Variables that its releases set at build time: `path.name=value`. */
  readonly linked?: readonly string[];
  /** Installation instructions. */
  readonly page: string;
}

/**
 * Builds a tool with the verified modules of its release, and returns `target`, the path of its program.
 *
 * @throws {Error} with installation instructions, if Go is missing or the build fails
 */
export function buildWithGo(
  { package: main, version, linked = [], page }: GoTool,
  target: string,
): string {
  const name = path.basename(target);
  if (!hasGo()) {
    throw new Error(
      `${name} is missing: install it (${page}), or install Go 1.26 and run make again to build it`,
    );
  }
  console.log(`Building ${name} ${version}, which is missing: this takes minutes`);
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), `build-${name}-`));
  try {
    const flags = ['-s', '-w', ...linked.map((variable) => `-X ${variable}`)].join(' ');
    const options = ['-trimpath', '-buildvcs=false', `-ldflags=${flags}`];
    run('go', ['install', ...options, `${main}@${version}`], { CGO_ENABLED: '0', GOBIN: folder });
    // The rename is atomic: of two simultaneous builds, each installs a complete program.
    const [built = ''] = fs.readdirSync(folder);
    fs.mkdirSync(path.dirname(target), { recursive: true });
    fs.copyFileSync(path.join(folder, built), `${target}.${process.pid}`);
    fs.renameSync(`${target}.${process.pid}`, target);
    return target;
  } catch (cause) {
    const reason = (cause as Error).message.split('\n').at(-1);
    throw new Error(`Cannot build ${name} (${reason}): install it instead (${page})`, { cause });
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

/** Installs a package of Debian, but starts none of its services, which would take its port. */
export function installWithApt(name: string): void {
  // invoke-rc.d starts no service if this script exits with 101.
  const policy = '/usr/sbin/policy-rc.d';
  const isMine = !fs.existsSync(policy);
  if (isMine) fs.writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  // PostgreSQL would otherwise create a cluster, which also starts at the next boot.
  const cluster = '/etc/postgresql-common/createcluster.conf';
  if (name === 'postgresql' && !fs.existsSync(cluster)) {
    fs.mkdirSync(path.dirname(cluster), { recursive: true });
    fs.writeFileSync(cluster, 'create_main_cluster = false\n');
  }
  // Existing configuration files are kept.
  const env = { DEBIAN_FRONTEND: 'noninteractive', UCF_FORCE_CONFFOLD: '1' };
  try {
    run('apt-get', ['--quiet', 'update'], env);
    run('apt-get', ['--quiet', 'install', '--yes', '--no-install-recommends', name], env);
  } finally {
    if (isMine) fs.rmSync(policy, { force: true });
  }
  if (fs.existsSync('/run/systemd/system')) {
    const service = name.replace(/-light$/, '');
    spawnSync('systemctl', ['disable', '--quiet', service], { stdio: 'ignore' });
  }
}

/** @throws {Error} with the error output of the program */
function run(program: string, args: readonly string[], env: NodeJS.ProcessEnv): void {
  try {
    execFileSync(program, args, {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'ignore', 'pipe'],
      encoding: 'utf8',
      maxBuffer: 64 * 1024 ** 2,
    });
  } catch (cause) {
    const { stderr = '', message } = cause as Error & { readonly stderr?: string };
    const reason = stderr.trim() || message;
    throw new Error(`Cannot run ${program} ${args.join(' ')}: ${reason}`, { cause });
  }
}

/** Whether Go is installed. */
export function hasGo(): boolean {
  return spawnSync('go', ['version'], { stdio: 'ignore' }).status === 0;
}
