import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

/** A program that the system or its tests run, and how it comes onto a machine. */
interface Tool {
  /** The names that its program goes by. */
  readonly programs: readonly string[];
  readonly debian: string;
  readonly fedora: string;
  readonly homebrew: string;
}

const TOOLS = {
  nginx: { programs: ['nginx'], debian: 'nginx-light', fedora: 'nginx', homebrew: 'nginx' },
  redis: {
    programs: ['valkey-server', 'redis-server'],
    debian: 'redis-server',
    fedora: 'valkey',
    homebrew: 'valkey',
  },
  chromium: {
    programs: ['chromium', 'chromium-browser', 'google-chrome'],
    debian: 'chromium',
    fedora: 'chromium',
    homebrew: '--cask chromium',
  },
} as const satisfies Record<string, Tool>;

export type ToolName = keyof typeof TOOLS;

/** Debian keeps servers out of a plain user's PATH, Homebrew all out of a fresh shell's. */
const EXTRA_FOLDERS = ['/usr/sbin', '/usr/local/sbin', '/opt/homebrew/bin', '/usr/local/bin'];

/** The path of a tool's program, or nothing where there is none. */
export function findTool(name: ToolName): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(path.delimiter), ...EXTRA_FOLDERS];
  return folders
    .filter((folder) => folder !== '')
    .flatMap((folder) => TOOLS[name].programs.map((program) => path.join(folder, program)))
    .find((file) => fs.existsSync(file));
}

/**
 * The path of a tool's program, which is installed first where this process may: as root on Debian.
 *
 * @throws {Error} saying how to install it, where it may not
 */
export function ensureTool(name: ToolName): string {
  const found = findTool(name);
  if (found) return found;
  const { debian } = TOOLS[name];
  if (process.getuid?.() !== 0 || !fs.existsSync('/usr/bin/apt-get')) throw missing(name);

  console.log(`Installing ${name}, because this machine has none (apt-get install ${debian})`);
  withoutServiceStart(debian, () => {
    apt('update');
    apt('install', '--yes', '--no-install-recommends', debian);
  });
  const installed = findTool(name);
  if (!installed) throw missing(name);
  return installed;
}

function missing(name: ToolName): Error {
  const { debian, fedora, homebrew } = TOOLS[name];
  return new Error(
    `${name} is missing: install it with "sudo apt-get install ${debian}" (Debian, Ubuntu), ` +
      `"sudo dnf install ${fedora}" (Fedora) or "brew install ${homebrew}" (macOS), then run make again`,
  );
}

function apt(...args: readonly string[]): void {
  try {
    execFileSync('apt-get', ['--quiet', ...args], {
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      stdio: ['ignore', 'pipe', 'pipe'],
      encoding: 'utf8',
      maxBuffer: 64 * 1024 ** 2,
    });
  } catch (error) {
    const stderr =
      error instanceof Error && 'stderr' in error ? `: ${String(error.stderr).trim()}` : '';
    throw new Error(`Cannot run apt-get ${args.join(' ')}${stderr}`, { cause: error });
  }
}

/** Runs `install` so that a service of the package, which would take its port, is not started. */
function withoutServiceStart(debian: string, install: () => void): void {
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
    const service = debian.replace(/-light$/, '');
    execFileSync('systemctl', ['disable', '--quiet', service], { stdio: 'ignore' });
  }
}

/** `node tools.ts nginx redis`: brings each tool that is missing. */
if (import.meta.main) {
  try {
    for (const name of process.argv.slice(2)) {
      if (!(name in TOOLS)) {
        throw new Error(`Cannot bring "${name}": expected one of ${Object.keys(TOOLS).join(', ')}`);
      }
      ensureTool(name as ToolName);
    }
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
