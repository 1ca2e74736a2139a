import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
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

/** A program of one Go module, which is built where no machine has it. */
interface GoTool {
  readonly module: string;
  readonly version: string;
  readonly package: string;
  /** Variables of its packages that its releases are linked with: `path.name=value`. */
  readonly linked?: readonly string[];
  /** Where people find it. */
  readonly page: string;
}

const GO_TOOLS = {
  helm: {
    module: 'helm.sh/helm/v4',
    version: 'v4.2.4',
    package: 'helm.sh/helm/v4/cmd/helm',
    page: 'https://helm.sh/docs/intro/install',
  },
  /** Beside `helm`: the tests of the charts render with both. */
  helm3: {
    module: 'helm.sh/helm/v3',
    version: 'v3.22.0',
    package: 'helm.sh/helm/v3/cmd/helm',
    // The Kubernetes that it renders for and lints against: without these 1.20.
    linked: [
      'helm.sh/helm/v3/pkg/chartutil.k8sVersionMinor=37',
      'helm.sh/helm/v3/pkg/lint/rules.k8sVersionMinor=37',
    ],
    page: 'https://v3.helm.sh/docs/intro/install',
  },
  k6: {
    module: 'go.k6.io/k6/v2',
    version: 'v2.2.0',
    package: 'go.k6.io/k6/v2',
    page: 'https://grafana.com/docs/k6/latest/set-up/install-k6',
  },
  'kube-score': {
    module: 'github.com/zegl/kube-score',
    version: 'v1.20.0',
    package: 'github.com/zegl/kube-score/cmd/kube-score',
    page: 'https://github.com/zegl/kube-score#installation',
  },
} as const satisfies Record<string, GoTool>;

type PackagedToolName = keyof typeof TOOLS;
export type GoToolName = keyof typeof GO_TOOLS;

export type ToolName = PackagedToolName | GoToolName;

/** The folder of a tool that was built here: in the user's cache, once per version for all checkouts. */
function builtFolder(name: GoToolName): string {
  const { XDG_CACHE_HOME = '' } = process.env;
  const cache = path.isAbsolute(XDG_CACHE_HOME)
    ? XDG_CACHE_HOME
    : path.join(os.homedir(), '.cache');
  return path.join(cache, 'fw', 'tools', `${name}-${GO_TOOLS[name].version}`);
}

/** Debian keeps servers out of a plain user's PATH, Homebrew all out of a fresh shell's. */
const EXTRA_FOLDERS = ['/usr/sbin', '/usr/local/sbin', '/opt/homebrew/bin', '/usr/local/bin'];

/** The path of a tool's program, the newest where a folder a version is usual; or nothing. */
export function findTool(name: ToolName): string | undefined {
  const { programs, folders = undefined }: Partial<Tool> & Pick<Tool, 'programs'> = isGoTool(name)
    ? { programs: [name] }
    : TOOLS[name];
  return [
    ...(process.env.PATH ?? '').split(path.delimiter),
    ...EXTRA_FOLDERS,
    ...(isGoTool(name) ? [builtFolder(name)] : []),
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
  if (isGoTool(name)) return buildGoTool(name);
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

function isGoTool(name: ToolName): name is GoToolName {
  return name in GO_TOOLS;
}

/**
 * Builds a program in a module of its own, with the checksums that its module was released with.
 *
 * @throws {Error} saying how to get it, where there is no Go to build it with
 */
function buildGoTool(name: GoToolName): string {
  const { module, version, package: main, linked = [], page }: GoTool = GO_TOOLS[name];
  if (!canRunGo()) {
    throw new Error(
      `${name} is missing: install it (${page}), or install Go 1.26 and run make again to build it`,
    );
  }
  console.log(`Building ${name} ${version}, because this machine has none: it takes minutes`);
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), `build-${name}-`));
  const go = (...args: readonly string[]): string =>
    execFileSync('go', args, {
      cwd: folder,
      env: { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-trimpath -buildvcs=false' },
      stdio: ['ignore', 'pipe', 'pipe'],
      encoding: 'utf8',
      maxBuffer: 64 * 1024 ** 2,
    });
  try {
    const { Dir: source }: { Dir: string } = JSON.parse(
      go('mod', 'download', '-json', `${module}@${version}`),
    );
    const [goLine] = /^go .+$/m.exec(fs.readFileSync(path.join(source, 'go.mod'), 'utf8')) ?? [];
    fs.writeFileSync(
      path.join(folder, 'go.mod'),
      `module build/${name}\n${goLine}\nrequire ${module} ${version}\n`,
    );
    fs.writeFileSync(
      path.join(folder, 'go.sum'),
      fs.readFileSync(path.join(source, 'go.sum'), 'utf8'),
    );
    const flags = ['-s', '-w', ...linked.map((variable) => `-X ${variable}`)].join(' ');
    go('build', '-mod=mod', `-ldflags=${flags}`, '-o', path.join(folder, 'built'), main);
    // The rename is atomic: of two processes that build it at once, each installs a complete program.
    const target = builtFolder(name);
    fs.mkdirSync(target, { recursive: true });
    const draft = path.join(target, `.${name}.${process.pid}`);
    fs.copyFileSync(path.join(folder, 'built'), draft);
    fs.renameSync(draft, path.join(target, name));
    return path.join(target, name);
  } catch (error) {
    const stderr =
      error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : String(error);
    const reason = stderr.split('\n').at(-1);
    throw new Error(`Cannot build ${name} (${reason}): install it instead (${page})`, {
      cause: error,
    });
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

/** The page that says how to install this program. */
export function installationPage(name: GoToolName): string {
  return GO_TOOLS[name].page;
}

/** Whether `ensureTool` can return this program: it is installed, or there is Go to build it. */
export function isObtainable(name: GoToolName): boolean {
  return findTool(name) !== undefined || canRunGo();
}

function canRunGo(): boolean {
  return spawnSync('go', ['version'], { stdio: 'ignore' }).status === 0;
}

function missing(name: PackagedToolName): Error {
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

/**
 * `node tools.ts nginx redis` installs the tools that are missing. With `--optional`, a tool that can
 * be neither found nor built is left out.
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
