import { execFile, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const REQUIREMENTS = path.join(import.meta.dirname, 'requirements.txt');

/** Commands of Python 3.11 or later: the default of the machine first, then the newest. */
const PYTHONS = ['python3', 'python3.14', 'python3.13', 'python3.12', 'python3.11'];

/** How to install Python. */
export const INSTALL =
  'install it with "sudo apt-get install python3-venv" (Debian, Ubuntu), "sudo dnf install python3" ' +
  '(Fedora) or "brew install python" (macOS), then run make again';

/** Python is missing; the message describes how to install it. */
export class MissingPythonError extends Error {
  constructor(options?: ErrorOptions) {
    super(`Python 3.11 or later with the module venv is missing: ${INSTALL}`, options);
    this.name = 'MissingPythonError';
  }
}

export interface EnvironmentOptions {
  /** The folder that holds the virtual environments. Default `fw` in the user's cache directory. */
  readonly cache?: string;
}

/**
 * The Python of a virtual environment that contains schemathesis. The environment is created on first
 * use and kept in the user's cache directory, one per version of the requirements and of Python.
 *
 * @throws {MissingPythonError} if this machine has no suitable Python and it cannot be installed
 */
export async function ensureEnvironment({ cache = cacheFolder() }: EnvironmentOptions = {}) {
  const python = findPython() ?? installPython();
  if (python === undefined) throw new MissingPythonError();
  const folder = path.join(cache, `schemathesis-${keyOf(python)}`);
  if (!fs.existsSync(folder)) await createEnvironment(python.program, folder);
  return pythonOf(folder);
}

interface Python {
  readonly program: string;
  /** Version and location: if they change, an environment created with this Python may stop working. */
  readonly identity: string;
}

/** The first suitable Python on the PATH that can create virtual environments. */
export function findPython(): Python | undefined {
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
async function createEnvironment(python: string, folder: string): Promise<void> {
  console.log('Creating a virtual environment for schemathesis (once, about a minute)');
  fs.mkdirSync(path.dirname(folder), { recursive: true });
  const draft = fs.mkdtempSync(`${folder}.`);
  try {
    await run(python, ['-m', 'venv', draft]);
    await run(pythonOf(draft), [
      ...['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check'],
      ...['--only-binary', ':all:', '--require-hashes', '--requirement', REQUIREMENTS],
    ]);
    fs.renameSync(draft, folder);
  } catch (error) {
    // A concurrent run may have created the same environment.
    if (!fs.existsSync(folder)) throw error;
  } finally {
    fs.rmSync(draft, { recursive: true, force: true });
  }
}

function keyOf({ identity }: Python): string {
  return createHash('sha256')
    .update(fs.readFileSync(REQUIREMENTS))
    .update(identity)
    .digest('hex')
    .slice(0, 16);
}

/** The interpreter; other programs in `bin` contain the path of the temporary folder. */
function pythonOf(folder: string): string {
  return path.join(folder, 'bin/python');
}

function cacheFolder(): string {
  return path.join(process.env.XDG_CACHE_HOME || path.join(os.homedir(), '.cache'), 'fw');
}

/** `node environment.ts` creates the environment; with `--optional`, missing Python is not an error. */
if (import.meta.main) {
  try {
    await ensureEnvironment();
  } catch (error) {
    if (!(error instanceof MissingPythonError && process.argv[2] === '--optional')) {
      console.error(error instanceof Error ? error.message : error);
      process.exitCode = 1;
    }
  }
}
