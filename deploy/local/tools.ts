import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { buildWithGo, type GoTool, hasGo, installWithApt } from './install-tool.ts';

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

const HELM3 = 'helm.sh/helm/v3';
const GO_TOOLS = {
  helm: {
    package: 'helm.sh/helm/v4/cmd/helm',
    version: 'v4.2.4',
    page: 'https://helm.sh/docs/intro/install',
  },
  /** The tests of the charts use both versions. */
  helm3: {
    package: `${HELM3}/cmd/helm`,
    version: 'v3.22.0',
    // The version of Kubernetes to render for; 1.20 by default.
    linked: [
      `${HELM3}/pkg/chartutil.k8sVersionMinor=37`,
      `${HELM3}/pkg/lint/rules.k8sVersionMinor=37`,
    ],
    page: 'https://v3.helm.sh/docs/intro/install',
  },
  k6: {
    package: 'go.k6.io/k6/v2',
    version: 'v2.2.0',
    page: 'https://grafana.com/docs/k6/latest/set-up/install-k6',
  },
  'kube-score': {
    package: 'github.com/zegl/kube-score/cmd/kube-score',
    version: 'v1.20.0',
    page: 'https://github.com/zegl/kube-score#installation',
  },
  'toxiproxy-server': {
    package: 'github.com/Shopify/toxiproxy/v2/cmd/server',
    version: 'v2.12.0',
    page: 'https://github.com/Shopify/toxiproxy#1-installing-toxiproxy',
  },
  h2spec: {
    package: 'github.com/summerwind/h2spec/cmd/h2spec',
    // The newest version that Go can install: later ones lack the suffix /v2 in their module path.
    version: 'v2.2.1+incompatible',
    page: 'https://github.com/summerwind/h2spec#installation',
  },
} as const satisfies Record<string, GoTool>;

export type GoToolName = keyof typeof GO_TOOLS;
export type ToolName = keyof typeof TOOLS | GoToolName;

/** Debian keeps servers out of the PATH of users, Homebrew everything out of that of a new shell. */
const EXTRA_FOLDERS = ['/usr/sbin', '/usr/local/sbin', '/opt/homebrew/bin', '/usr/local/bin'];

function isGoTool(name: ToolName): name is GoToolName {
  return name in GO_TOOLS;
}

/** The folder of a built tool. */
function builtFolder(name: GoToolName): string {
  return cacheFolder(`${name}-${GO_TOOLS[name].version}`);
}

/** The folder of a tool in the user's cache: one per version for all checkouts. */
export function cacheFolder(tool: string): string {
  const { XDG_CACHE_HOME = '' } = process.env;
  const cache = path.isAbsolute(XDG_CACHE_HOME)
    ? XDG_CACHE_HOME
    : path.join(os.homedir(), '.cache');
  return path.join(cache, 'fw', 'tools', tool);
}

/** The path of a tool, or undefined. */
export function findTool(name: ToolName): string | undefined {
  const tool: Pick<Tool, 'programs' | 'folders'> = isGoTool(name)
    ? { programs: [name], folders: builtFolder(name) }
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
 * The path of a tool, which is installed first if it is missing: with apt-get as root, or with Go.
 *
 * @throws {Error} with installation instructions, if neither is possible
 */
export function ensureTool(name: ToolName): string {
  const found = findTool(name);
  if (found) return found;
  if (isGoTool(name)) {
    const tool = GO_TOOLS[name];
    return buildWithGo(tool, path.join(builtFolder(name), name));
  }
  const { debian, fedora, homebrew } = TOOLS[name];
  if (process.getuid?.() === 0 && fs.existsSync('/usr/bin/apt-get')) {
    console.log(`Installing ${name}, which is missing (apt-get install ${debian})`);
    installWithApt(debian);
  }
  const installed = findTool(name);
  if (installed) return installed;
  throw new Error(
    `${name} is missing: install it with "sudo apt-get install ${debian}" (Debian, Ubuntu), ` +
      `"sudo dnf install ${fedora}" (Fedora) or "brew install ${homebrew}" (macOS), then run make again`,
  );
}

/** Installation instructions for a tool. */
export function installationPage(name: GoToolName): string {
  return GO_TOOLS[name].page;
}

/** Whether the tool is installed or can be built. */
export function isObtainable(name: GoToolName): boolean {
  return findTool(name) !== undefined || hasGo();
}

/**
 * `node tools.ts nginx redis` installs missing tools. `--optional` skips those that can be neither
 * found nor built.
 */
if (import.meta.main) {
  const isOptional = process.argv[2] === '--optional';
  try {
    for (const name of process.argv.slice(isOptional ? 3 : 2)) {
      const known = [...Object.keys(TOOLS), ...Object.keys(GO_TOOLS)];
      if (!known.includes(name)) {
        throw new Error(`Cannot install "${name}": expected one of ${known.join(', ')}`);
      }
      const tool = name as ToolName;
      if (!isOptional || !isGoTool(tool) || isObtainable(tool)) ensureTool(tool);
    }
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
