import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { lastLineOf, MissingProgramError } from '../../tools/programs.ts';

const REQUIREMENTS = path.join(import.meta.dirname, 'requirements.txt');

/** Commands of Python 3.11 or later: the default of the machine first, then the newest. */
const PYTHONS = ['python3', 'python3.14', 'python3.13', 'python3.12', 'python3.11'];

/** The name of the environment for skipped tests. */
const PROGRAM = 'schemathesis';

/**
 * The Python of a virtual environment that contains schemathesis. The environment is created on first
 * use and kept in the user's cache directory, one per version of the requirements and of Python. Tests do
 * not create it: make does that before them.
 *
 * @throws {Error} if there is no environment, and it cannot be created
 */
export function ensureEnvironment(): string {
  const found = findEnvironment();
  if (found) return found;
  if (!process.env.VITEST) return install();
  throw new MissingProgramError(PROGRAM, `${PROGRAM} is missing: make conformance installs it`);
}

/** The Python of the environment, or undefined. */
function findEnvironment(): string | undefined {
  const python = findPython();
  const program = python && pythonOf(folderOf(python));
  return program && fs.existsSync(program) ? program : undefined;
}

function install(): string {
  const python = findPython() ?? installPython();
  if (!python) {
    throw new Error(
      'Python 3.11 or later with the module venv is missing: install it with ' +
        '"sudo apt-get install python3-venv" (Debian, Ubuntu), "sudo dnf install python3" (Fedora) ' +
        'or "brew install python" (macOS), then run make again',
    );
  }
  const folder = folderOf(python);
  createEnvironment(python.program, folder);
  return pythonOf(folder);
}

interface Python {
  readonly program: string;
  /** Version and location: if they change, an environment created with this Python may stop working. */
  readonly identity: string;
}

/** The first suitable Python on the PATH that can create virtual environments. */
function findPython(): Python | undefined {
  const script =
    'import ensurepip, sys, venv; print(sys.version, sys.base_prefix); sys.exit(sys.version_info < (3, 11))';
  for (const program of PYTHONS) {
    const { status, stdout } = spawnSync(program, ['-c', script], { encoding: 'utf8' });
    if (status === 0) return { program, identity: stdout };
  }
  return undefined;
}

/** Installs Python if this process is root on Debian. */
function installPython(): Python | undefined {
  if (process.getuid?.() !== 0 || !fs.existsSync('/usr/bin/apt-get')) return undefined;
  console.log('Installing Python, which is missing (apt-get install python3-venv)');
  for (const args of [
    ['update'],
    ['install', '--yes', '--no-install-recommends', 'python3-venv'],
  ]) {
    spawnSync('apt-get', ['--quiet', ...args], {
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      stdio: 'ignore',
    });
  }
  return findPython();
}

/** Creates the environment in a temporary folder and renames it, so that `folder` is always complete. */
function createEnvironment(python: string, folder: string): void {
  console.log('Creating a virtual environment for schemathesis (once, about a minute)');
  fs.mkdirSync(path.dirname(folder), { recursive: true });
  const draft = fs.mkdtempSync(`${folder}.`);
  const run = (program: string, args: readonly string[]) =>
    execFileSync(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  try {
    run(python, ['-m', 'venv', draft]);
    run(pythonOf(draft), [
      ...['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check'],
      ...['--only-binary', ':all:', '--require-hashes', '--requirement', REQUIREMENTS],
    ]);
    fs.renameSync(draft, folder);
  } catch (cause) {
    // A concurrent run may have created the same environment.
    if (fs.existsSync(folder)) return;
    throw new Error(`Cannot create the environment of schemathesis (${lastLineOf(cause)})`, {
      cause,
    });
  } finally {
    fs.rmSync(draft, { recursive: true, force: true });
  }
}

function folderOf({ identity }: Python): string {
  const hash = createHash('sha256').update(fs.readFileSync(REQUIREMENTS)).update(identity);
  const cache = process.env.XDG_CACHE_HOME || path.join(os.homedir(), '.cache');
  return path.join(cache, 'fw/tools', `${PROGRAM}-${hash.digest('hex').slice(0, 16)}`);
}

/** The interpreter; other programs in `bin` contain the path of the temporary folder. */
function pythonOf(folder: string): string {
  return path.join(folder, 'bin/python');
}

/** `node environment.ts` creates the environment; with `--optional`, a failure is no error. */
if (import.meta.main) {
  try {
    if (!findEnvironment()) install();
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    if (process.argv[2] !== '--optional') process.exitCode = 1;
  }
}
