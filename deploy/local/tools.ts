import fs from 'node:fs';
import path from 'node:path';

import {
  buildWithGo,
  builtProgram,
  hasGo,
  installWithApt,
  lastLineOf,
  missingProgram,
  recordFailure,
} from './install-tool.ts';

/** A program from the package manager of the machine. */
interface Tool {
  /** Names of the program. */
  readonly programs: readonly string[];
  /** Package names. */
  readonly debian: string;
  readonly fedora: string;
  readonly homebrew: string;
  /** Glob pattern of folders outside the PATH that may contain the program. */
  readonly folders?: string;
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
  },
  prometheus: {
    programs: ['prometheus'],
    debian: 'prometheus',
    fedora: 'golang-github-prometheus',
    homebrew: 'prometheus',
  },
  /** A library that processes load to get another clock. */
  faketime: {
    programs: ['libfaketime.so.1'],
    debian: 'libfaketime',
    fedora: 'libfaketime',
    homebrew: 'libfaketime',
    folders: '{/usr/lib/*/faketime,/usr/lib64/faketime}',
  },
  /** Checks and tests alerting rules; the packages of Prometheus contain it. */
  promtool: {
    programs: ['promtool'],
    debian: 'prometheus',
    fedora: 'golang-github-prometheus',
    homebrew: 'prometheus',
  },
  java: {
    programs: ['java'],
    debian: 'default-jre-headless',
    fedora: 'java-latest-openjdk-headless',
    homebrew: 'openjdk',
    // Homebrew does not link it, because macOS has a program of that name.
    folders: '{/opt/homebrew/opt/openjdk/bin,/usr/local/opt/openjdk/bin}',
  },
  wrk: { programs: ['wrk'], debian: 'wrk', fedora: 'wrk', homebrew: 'wrk' },
} as const satisfies Record<string, Tool>;

/** The programs that Go builds from the modules in `go/`, and pages with installation instructions. */
const GO_TOOLS = {
  helm: 'https://helm.sh/docs/intro/install',
  k6: 'https://grafana.com/docs/k6/latest/set-up/install-k6',
  'kube-score': 'https://github.com/zegl/kube-score#installation',
  'toxiproxy-server': 'https://github.com/Shopify/toxiproxy#1-installing-toxiproxy',
  h2spec: 'https://github.com/summerwind/h2spec#installation',
} as const;

export type GoToolName = keyof typeof GO_TOOLS;
export type ToolName = keyof typeof TOOLS | GoToolName;

/** Debian keeps servers out of the PATH of users, Homebrew everything out of that of a new shell. */
const EXTRA_FOLDERS = ['/usr/sbin', '/usr/local/sbin', '/opt/homebrew/bin', '/usr/local/bin'];

function isGoTool(name: ToolName): name is GoToolName {
  return name in GO_TOOLS;
}

/** The path of a tool, or undefined. */
export function findTool(name: ToolName): string | undefined {
  const tool: Pick<Tool, 'programs' | 'folders'> = isGoTool(name)
    ? { programs: [name], folders: path.dirname(builtProgram(name)) }
    : TOOLS[name];
  return [
    ...(process.env.PATH ?? '').split(path.delimiter).filter(Boolean),
    ...EXTRA_FOLDERS,
    ...(tool.folders ? newestFirst(fs.globSync(tool.folders)) : []),
  ]
    .flatMap((folder) => tool.programs.map((program) => path.join(folder, program)))
    .find((file) => fs.existsSync(file));
}

/** Sorts folders by the version in their names: 17 precedes 9.6. */
export function newestFirst(folders: readonly string[]): string[] {
  const { compare } = new Intl.Collator('en', { numeric: true });
  return folders.toSorted((a, b) => compare(b, a));
}

/**
 * The path of a tool, which is installed first if it is missing: with apt-get as root, or with Go. Tests
 * install nothing: "make test" does that before them, once.
 *
 * @throws {Error} with installation instructions, if it is missing and cannot be installed
 */
export function ensureTool(name: ToolName): string {
  const found = findTool(name);
  if (found) return found;
  if (process.env.VITEST) throw missingProgram(name);
  return installTool(name);
}

function installTool(name: ToolName): string {
  return recordFailure(name, () =>
    isGoTool(name) ? buildWithGo(name, GO_TOOLS[name]) : installPackage(name),
  );
}

function installPackage(name: keyof typeof TOOLS): string {
  const { debian, fedora, homebrew } = TOOLS[name];
  const instructions =
    `install it with "sudo apt-get install ${debian}" (Debian, Ubuntu), ` +
    `"sudo dnf install ${fedora}" (Fedora) or "brew install ${homebrew}" (macOS), then run make again`;
  if (process.getuid?.() === 0 && fs.existsSync('/usr/bin/apt-get')) {
    console.log(`Installing ${name}, which is missing (apt-get install ${debian})`);
    try {
      installWithApt(debian);
    } catch (cause) {
      throw new Error(`Cannot install ${name} (${lastLineOf(cause)}): ${instructions}`, { cause });
    }
  }
  const installed = findTool(name);
  if (installed) return installed;
  throw new Error(`${name} is missing: ${instructions}`);
}

/** Installation instructions for a tool. */
export function installationPage(name: GoToolName): string {
  return GO_TOOLS[name];
}

/** Whether the tool is installed or can be built. */
export function isObtainable(name: GoToolName): boolean {
  return findTool(name) !== undefined || hasGo();
}

/**
 * `node tools.ts nginx redis` installs missing tools. With `--optional`, a tool that cannot be installed is
 * no error.
 */
if (import.meta.main) {
  const isOptional = process.argv[2] === '--optional';
  const known = [...Object.keys(TOOLS), ...Object.keys(GO_TOOLS)];
  for (const name of process.argv.slice(isOptional ? 3 : 2)) {
    if (!known.includes(name)) {
      console.error(`Cannot install "${name}": expected one of ${known.join(', ')}`);
      process.exitCode = 1;
      continue;
    }
    try {
      if (!findTool(name as ToolName)) installTool(name as ToolName);
    } catch (error) {
      console.error(error instanceof Error ? error.message : error);
      if (!isOptional) process.exitCode = 1;
    }
  }
}
