import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { channel } from 'node:diagnostics_channel';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** Receives each missing program that a test needs; outside CI, the runner of the tests skips such tests. */
export const MISSING_PROGRAMS = channel('fw:missing-program');

export interface MissingProgram {
  readonly program: string;
  readonly reason: string;
}

/** The folder of a tool in the user's cache: one per version for all checkouts. */
export function cacheFolder(tool: string): string {
  const { XDG_CACHE_HOME = '' } = process.env;
  const cache = path.isAbsolute(XDG_CACHE_HOME)
    ? XDG_CACHE_HOME
    : path.join(os.homedir(), '.cache');
  return path.join(cache, 'fw', 'tools', tool);
}

/** Runs `install`. If it fails, the tests that need `program` report its message. */
export function recordFailure<T>(program: string, install: () => T): T {
  const file = failureFile(program);
  try {
    const result = install();
    fs.rmSync(file, { force: true });
    return result;
  } catch (error) {
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, error instanceof Error ? error.message : String(error));
    throw error;
  }
}

/** Reports that a test needs `program`, and returns the error. Default reason: that of `recordFailure`. */
export function missingProgram(program: string, reason = reasonOf(program)): Error {
  MISSING_PROGRAMS.publish({ program, reason } satisfies MissingProgram);
  return new Error(reason);
}

function reasonOf(program: string): string {
  const file = failureFile(program);
  return fs.existsSync(file)
    ? fs.readFileSync(file, 'utf8')
    : `${program} is missing: "make test" installs it`;
}

/** The file with the reason why the last installation failed. */
function failureFile(program: string): string {
  return path.join(cacheFolder('failures'), program);
}

/** The folder of the Go module that pins the program `name`, its dependencies and their checksums. */
function moduleOf(name: string): string {
  return path.join(import.meta.dirname, 'go', name);
}

/** The path of the program `name` after `buildWithGo`. */
export function builtProgram(name: string): string {
  const hash = createHash('sha256');
  for (const file of ['go.mod', 'go.sum']) {
    hash.update(fs.readFileSync(path.join(moduleOf(name), file)));
  }
  return path.join(cacheFolder(`${name}-${hash.digest('hex').slice(0, 12)}`), name);
}

/**
 * Builds the program that the module in `go/<name>` pins, and returns its path. Only the module proxy is
 * used, because the module contains every checksum. `page` contains installation instructions.
 *
 * @throws {Error} with the page, if Go is missing or the build fails
 */
export function buildWithGo(name: string, page: string): string {
  if (!hasGo()) {
    throw new Error(
      `${name} is missing: install it (${page}), or install Go 1.26 and run make again to build it`,
    );
  }
  console.log(`Building ${name}, which is missing: this takes minutes`);
  const target = builtProgram(name);
  const draft = `${target}.${process.pid}`;
  const options = ['-trimpath', '-buildvcs=false', '-ldflags=-s -w'];
  const env = { CGO_ENABLED: '0', GOFLAGS: '-mod=readonly', GOTOOLCHAIN: 'local', GOWORK: 'off' };
  try {
    run('go', ['build', '-C', moduleOf(name), ...options, '-o', draft, 'tool'], env);
    // The rename is atomic: of two simultaneous builds, each installs a complete program.
    fs.renameSync(draft, target);
    return target;
  } catch (cause) {
    throw new Error(`Cannot build ${name} (${lastLineOf(cause)}): install it instead (${page})`, {
      cause,
    });
  }
}

/** The last line of the message of an error, which contains the reason if a program failed. */
export function lastLineOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).trim().split('\n').at(-1) ?? '';
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
    throw new Error(`Cannot run ${program} ${args.join(' ')}:\n${reason}`, { cause });
  }
}

/** Whether Go is installed. */
export function hasGo(): boolean {
  return spawnSync('go', ['version'], { stdio: 'ignore' }).status === 0;
}
