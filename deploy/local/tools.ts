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
  /** Where else its program may stand, as a pattern of folders. */
  readonly folders?: string;
  /** A file that keeps Debian's package from setting up more than the program. */
  readonly beforehand?: { readonly file: string; readonly text: string };
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
  postgres: {
    programs: ['postgres'],
    debian: 'postgresql',
    fedora: 'postgresql-server',
    homebrew: 'postgresql',
    folders:
      '{/usr/lib/postgresql/*/bin,/usr/pgsql-*/bin,/opt/homebrew/opt/postgresql*/bin,/usr/local/opt/postgresql*/bin}',
    beforehand: {
      file: '/etc/postgresql-common/createcluster.conf',
      text: 'create_main_cluster = false\n',
    },
  },
  wrk: { programs: ['wrk'], debian: 'wrk', fedora: 'wrk', homebrew: 'wrk' },
} as const satisfies Record<string, Tool>;

export type ToolName = keyof typeof TOOLS;

/** Debian keeps servers out of a plain user's PATH, Homebrew all out of a fresh shell's. */
const EXTRA_FOLDERS = ['/usr/sbin', '/usr/local/sbin', '/opt/homebrew/bin', '/usr/local/bin'];

/** The path of a tool's program, the newest where a folder a version is usual; or nothing. */
export function findTool(name: ToolName): string | undefined {
  const { programs, folders }: Tool = TOOLS[name];
  return [
    ...(process.env.PATH ?? '').split(path.delimiter),
    ...EXTRA_FOLDERS,
    ...(folders ? newestFirst(fs.globSync(folders)) : []),
  ]
    .filter((folder) => folder !== '')
    .flatMap((folder) => programs.map((program) => path.join(folder, program)))
    .find((file) => fs.existsSync(file));
}

/** The folders by the versions in their names: 17 before 9.6, which letters would put first. */
export function newestFirst(folders: readonly string[]): string[] {
  const { compare } = new Intl.Collator('en', { numeric: true });
  return folders.toSorted((a, b) => compare(b, a));
}

/**
 * The path of a tool's program, which is installed first where this process may: as root on Debian.
 *
 * @throws {Error} saying how to install it, where it may not
 */
export function ensureTool(name: ToolName): string {
  const found = findTool(name);
  if (found) return found;
  const { debian, beforehand }: Tool = TOOLS[name];
  if (process.getuid?.() !== 0 || !fs.existsSync('/usr/bin/apt-get')) throw missing(name);

  console.log(`Installing ${name}, because this machine has none (apt-get install ${debian})`);
  if (beforehand && !fs.existsSync(beforehand.file)) {
    fs.mkdirSync(path.dirname(beforehand.file), { recursive: true });
    fs.writeFileSync(beforehand.file, beforehand.text);
  }
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
      // A configuration file that is there already stays as it is.
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', UCF_FORCE_CONFFOLD: '1' },
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
