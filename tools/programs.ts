import { execFileSync, spawnSync } from 'node:child_process';
import diagnosticsChannel from 'node:diagnostics_channel';
import fs from 'node:fs';
import path from 'node:path';

/** A program from the package manager of the machine. */
interface Package {
  /** Names of the program. */
  readonly programs: readonly string[];
  /** Package names. */
  readonly debian: string;
  readonly fedora: string;
  readonly homebrew: string;
  /** Glob pattern of folders outside the PATH that may contain the program. */
  readonly folders?: string;
}

const PACKAGES: Readonly<Record<string, Package>> = {
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
    folders: '{/usr/lib/postgresql/*,/usr/pgsql-*,/{opt/homebrew,usr/local}/opt/postgresql*}/bin',
  },
  pgbouncer: {
    programs: ['pgbouncer'],
    debian: 'pgbouncer',
    fedora: 'pgbouncer',
    homebrew: 'pgbouncer',
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
  },
  maven: { programs: ['mvn'], debian: 'maven', fedora: 'maven', homebrew: 'maven' },
  wrk: { programs: ['wrk'], debian: 'wrk', fedora: 'wrk', homebrew: 'wrk' },
};

/** The programs that Go builds from the modules in `go/`, and pages with installation instructions. */
const MODULES: Readonly<Record<string, string>> = {
  actionlint: 'https://github.com/rhysd/actionlint/blob/main/docs/install.md',
  cosign: 'https://docs.sigstore.dev/cosign/system_config/installation',
  grype: 'https://github.com/anchore/grype#installation',
  helm: 'https://helm.sh/docs/intro/install',
  k6: 'https://grafana.com/docs/k6/latest/set-up/install-k6',
  'kube-score': 'https://github.com/zegl/kube-score#installation',
  oasdiff: 'https://github.com/oasdiff/oasdiff#installation',
  registry: 'https://distribution.github.io/distribution/about/building',
  statsd_exporter: 'https://github.com/prometheus/statsd_exporter#readme',
  'toxiproxy-server': 'https://github.com/Shopify/toxiproxy#1-installing-toxiproxy',
};

/** Those of the programs in `MODULES` that `make test` needs: `make programs` builds them. */
const NEEDED_BY_MAKE_TEST = [
  ...['actionlint', 'helm', 'k6', 'kube-score', 'oasdiff', 'statsd_exporter'],
];

const ROOT = path.resolve(import.meta.dirname, '..');

/** The folder of the programs that Go built, which the Makefile puts on the PATH. */
const BUILT = path.join(ROOT, '.local/bin');

/** The programs that pip installs, and the files with the versions and hashes of each and its dependencies. */
const PYTHON: Readonly<Record<string, string>> = {
  schemathesis: 'tests/conformance/requirements.txt',
  'docker-compose': 'tests/compose/requirements.txt',
};

/** The PATH of the Makefile: Debian keeps servers out of the PATH of users, Homebrew its programs. */
export const SEARCH_PATH = [
  BUILT,
  ...(process.env.PATH ?? '').split(path.delimiter),
  ...['/usr/sbin', '/usr/local/sbin', '/opt/homebrew/bin', '/usr/local/bin'],
].join(path.delimiter);

/** A program that a test needs, and what to do to have it. */
export interface MissingProgram {
  readonly program: string;
  readonly remedy: string;
}

/** The runner of the tests subscribes to it: a test may expect another error, and hide this one. */
export const MISSING_PROGRAMS = diagnosticsChannel.channel('fw:missing-program');

/** Outside CI, the runner of the tests skips tests that failed after this error. */
export class MissingProgramError extends Error {
  constructor(program: string, remedy: string) {
    super(`${program} is missing: ${remedy}`);
    this.name = 'MissingProgramError';
    MISSING_PROGRAMS.publish({ program, remedy } satisfies MissingProgram);
  }
}

/**
 * The path of an installed program.
 *
 * @throws {MissingProgramError} with installation instructions
 */
export function ensureTool(name: string): string {
  const found = findTool(name);
  if (found) return found;
  throw new MissingProgramError(name, remedyOf(name));
}

/** The path of an installed program; undefined if there is none. */
export function findTool(name: string): string | undefined {
  const { programs, folders = '' }: Partial<Package> = PACKAGES[name] ?? {};
  // 17 precedes 9.6.
  const { compare } = new Intl.Collator('en', { numeric: true });
  const others = folders ? fs.globSync(folders).sort((one, other) => compare(other, one)) : [];
  return [...SEARCH_PATH.split(path.delimiter).filter(Boolean), ...others]
    .flatMap((folder) => (programs ?? [name]).map((program) => path.join(folder, program)))
    .find((file) => fs.existsSync(file));
}

function remedyOf(name: string): string {
  if (name in PYTHON) {
    return 'install Python 3.11 or later with its module venv, then run make again';
  }
  if (NEEDED_BY_MAKE_TEST.includes(name)) {
    return 'run "make programs", which takes about ten minutes once and needs Go 1.26';
  }
  const packaged = PACKAGES[name];
  if (!packaged) return `run "node tools/programs.ts ${name}", which needs Go 1.26`;
  const { debian, fedora, homebrew } = packaged;
  return (
    `install it with "sudo apt-get install ${debian}" (Debian, Ubuntu), ` +
    `"sudo dnf install ${fedora}" (Fedora) or "brew install ${homebrew}" (macOS), then run make again`
  );
}

/** Installs a program if it is missing: with Go, pip, or with apt-get as root. @throws {Error} if it cannot */
function install(name: string): void {
  const found = findTool(name);
  if (found && !isOutdated(name, found)) return;
  const page = MODULES[name];
  const isRoot = process.getuid?.() === 0 && fs.existsSync('/usr/bin/apt-get');
  try {
    if (page) build(name);
    else if (name in PYTHON) installWithPip(name, isRoot);
    else if (name in PACKAGES && isRoot) installWithApt(PACKAGES[name]?.debian ?? '');
  } catch (cause) {
    const reason = lastLineOf(cause);
    const remedy = page ? `install Go 1.26, or ${name} itself (${page})` : remedyOf(name);
    throw new Error(`Cannot install ${name} (${reason}): ${remedy}`, { cause });
  }
  ensureTool(name);
}

/** Whether the versions of a program that Go built or pip installed have changed since. */
function isOutdated(name: string, found: string): boolean {
  if (path.dirname(found) !== BUILT) return false;
  const sums = path.join(ROOT, PYTHON[name] ?? `tools/go/${name}/go.sum`);
  return fs.statSync(sums).mtimeMs > fs.statSync(found).mtimeMs;
}

/** Builds the program that the module in `go/<name>` pins. Only `go.sum` decides what is trusted. */
function build(name: string): void {
  console.log(`Building ${name}, which is missing: this takes minutes, the first time`);
  const module = path.join(import.meta.dirname, 'go', name);
  const target = path.join(BUILT, name);
  const draft = `${target}.${process.pid}`;
  const options = ['-trimpath', '-buildvcs=false', '-ldflags=-s -w'];
  run('go', ['build', '-C', module, ...options, '-o', draft, 'tool'], {
    ...{ CGO_ENABLED: '0', GOFLAGS: '-mod=readonly', GOTOOLCHAIN: 'local', GOWORK: 'off' },
  });
  fs.renameSync(draft, target);
}

/** Installs a program into a virtual environment, with a link to it in the folder of the programs. */
function installWithPip(name: string, isRoot: boolean): void {
  const hasVenv = spawnSync('python3', ['-c', 'import ensurepip, venv']).status === 0;
  if (!hasVenv && isRoot) installWithApt('python3-venv');
  console.log(`Installing ${name}, which is missing (once, about a minute)`);
  const folder = path.join(ROOT, '.local', name);
  const link = path.join(BUILT, name);
  run('python3', ['-m', 'venv', '--clear', folder]);
  const options = ['--quiet', '--disable-pip-version-check', '--only-binary', ':all:'];
  const requirements = ['--require-hashes', '--requirement', path.join(ROOT, PYTHON[name] ?? '')];
  run(path.join(folder, 'bin/pip'), ['install', ...options, ...requirements]);
  fs.mkdirSync(BUILT, { recursive: true });
  fs.rmSync(link, { force: true });
  fs.symlinkSync(`../${name}/bin/${name}`, link);
}

/** Installs a package of Debian, but starts none of its services, which would take its port. */
function installWithApt(name: string): void {
  console.log(`Installing ${name}, which is missing`);
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
function run(program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): void {
  execFileSync(program, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
    maxBuffer: 64 * 1024 ** 2,
  });
}

/** The last line of the message of an error, which contains the reason if a program failed. */
export function lastLineOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).trim().split('\n').at(-1) ?? '';
}

/**
 * `node programs.ts nginx helm` installs missing programs; without names, those that `make test` needs and
 * Go builds. With `--optional`, a program that cannot be installed is no error.
 */
if (import.meta.main) {
  const isOptional = process.argv[2] === '--optional';
  const names = process.argv.slice(isOptional ? 3 : 2);
  for (const name of names.length > 0 ? names : NEEDED_BY_MAKE_TEST) {
    try {
      install(name);
    } catch (error) {
      console.error(error instanceof Error ? error.message : error);
      if (!isOptional) process.exitCode = 1;
    }
  }
}
