import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

/** Debian keeps it out of a plain user's PATH, Homebrew out of a fresh shell's. */
const EXTRA_FOLDERS = ['/usr/sbin', '/usr/local/sbin', '/opt/homebrew/bin', '/usr/local/bin'];

const HOW_TO =
  'nginx is missing: install it with "sudo apt-get install nginx-light" (Debian, Ubuntu), ' +
  '"sudo dnf install nginx" (Fedora) or "brew install nginx" (macOS), then run make again';

/** The path of the nginx program, or nothing where there is none. */
export function findNginx(): string | undefined {
  return [...(process.env.PATH ?? '').split(path.delimiter), ...EXTRA_FOLDERS]
    .filter((folder) => folder !== '')
    .map((folder) => path.join(folder, 'nginx'))
    .find((file) => fs.existsSync(file));
}

/**
 * The path of the nginx program, which is installed first where this process may: as root on Debian.
 *
 * @throws {Error} saying how to install it, where it may not
 */
export function ensureNginx(): string {
  const found = findNginx();
  if (found) return found;
  if (process.getuid?.() !== 0 || !fs.existsSync('/usr/bin/apt-get')) throw new Error(HOW_TO);

  console.log('Installing nginx, because this machine has none (apt-get install nginx-light)');
  withoutServiceStart(() => {
    apt('update');
    apt('install', '--yes', '--no-install-recommends', 'nginx-light');
  });
  const installed = findNginx();
  if (!installed) throw new Error(HOW_TO);
  return installed;
}

function apt(...args: readonly string[]): void {
  try {
    execFileSync('apt-get', ['--quiet', ...args], {
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      stdio: ['ignore', 'pipe', 'pipe'],
      encoding: 'utf8',
    });
  } catch (error) {
    const stderr =
      error instanceof Error && 'stderr' in error ? `: ${String(error.stderr).trim()}` : '';
    throw new Error(`Cannot run apt-get ${args.join(' ')}${stderr}`, { cause: error });
  }
}

/** Runs `install` so that the package's own service, which would take port 80, is not started. */
function withoutServiceStart(install: () => void): void {
  // Debian asks this file before a package starts a service; 101 means no.
  const policy = '/usr/sbin/policy-rc.d';
  const mine = !fs.existsSync(policy);
  if (mine) fs.writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    install();
  } finally {
    if (mine) fs.rmSync(policy, { force: true });
  }
  // It must not come at the next boot either.
  if (fs.existsSync('/run/systemd/system')) {
    execFileSync('systemctl', ['disable', '--quiet', 'nginx'], { stdio: 'ignore' });
  }
}

if (import.meta.main) {
  try {
    ensureNginx();
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
