import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

// node dev.ts src .env -- src/main.ts: runs a program of Node for development, with the variables in .env if there is
// such a file, and again after each change in these folders and files. The packages for the next start are loaded in
// advance, unless one of them can have changed: a change in the folder of the program then takes a third of the time.
// Many editors save a file under another name and rename it, which node --watch sees only once.
const split = process.argv.indexOf('--');
const watched = process.argv.slice(2, split);
const program = process.argv.slice(split + 1);
const main = program.find((argument) => !argument.startsWith('-')) ?? '';

/** Not with options of Node: of two processes with `--inspect`, only one can listen for a debugger. */
const CAN_PREPARE = main === program[0];
const PACKAGES = new URL('dev-packages.ts', import.meta.url).href;

/** An editor may save a file in several steps. */
const SETTLE_MS = 20;

/** How long after a start the process of the next one is prepared: the program starts first. */
const PREPARE_AFTER_MS = 500;

/** How long a program may take to end: one that is blocked handles no signal. */
const END_WITHIN_MS = 5_000;

/** Names of swap files, locks and backups. */
const TEMPORARY = /^\.|~$/;

const env = {
  NODE_COMPILE_CACHE: 'node_modules/.cache/node',
  ...process.env,
  NODE_ENV: 'development',
  DEV_PROGRAM: main,
};

interface Started {
  readonly child: ChildProcess;
  /** The exit code. */
  readonly ended: Promise<number | null>;
  readonly installedAtMs: number | undefined;
}

/** When npm has last installed or removed packages. */
function installedAtMs(): number | undefined {
  return fs.statSync('node_modules/.package-lock.json', { throwIfNoEntry: false })?.mtimeMs;
}

/** Starts a process that loads the packages of the program, and the program itself when it gets a message. */
function prepare(): Started {
  // Node's `--env-file-if-exists` would print a line whenever the file is missing.
  const envFile = watched.includes('.env') && fs.existsSync('.env') ? ['--env-file=.env'] : [];
  const child = spawn(process.execPath, ['--import', PACKAGES, ...envFile, ...program], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env,
  });
  const ended = once(child, 'exit').then(([code]) => code);
  return { child, ended, installedAtMs: installedAtMs() };
}

/** The prepared process, unless other packages have been installed since then. */
function takePrepared(): Started | undefined {
  const prepared = next;
  next = undefined;
  if (prepared?.child.connected && prepared.installedAtMs === installedAtMs()) return prepared;
  prepared?.child.kill('SIGKILL');
  return undefined;
}

/** Waits until a program has ended that got a signal. */
async function waitForEnd({ child, ended }: Started): Promise<void> {
  const timer = setTimeout(() => {
    console.log(`Still running ${END_WITHIN_MS / 1000} s after the signal: killed`);
    child.kill('SIGKILL');
  }, END_WITHIN_MS);
  await ended;
  clearTimeout(timer);
}

/** Calls `onChange` for each change of the watched folders and files, which may appear or disappear. */
function watch(onChange: (watched: string) => void, signal: AbortSignal): void {
  for (const one of watched) {
    const report = () => onChange(one);
    if (fs.statSync(one, { throwIfNoEntry: false })?.isDirectory()) {
      for (const folder of [one, ...foldersIn(one)]) {
        fs.watch(folder, { signal }, (_, name) => {
          if (!name || !TEMPORARY.test(name)) report();
        }).on('error', report);
      }
    } else {
      fs.watch(path.dirname(one), { signal }, (_, name) => {
        if (name === path.basename(one)) report();
      }).on('error', report);
    }
  }
}

function foldersIn(folder: string): string[] {
  return fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ parentPath, name }) => path.join(parentPath, name));
}

/** Whether the program is in this folder: the packages are not. */
function isSource(folder: string): boolean {
  return !path.relative(folder, main).startsWith('..');
}

/** Resolves after the first change. Until `signal`, each change that packages can depend on discards `next`. */
function nextChange(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const onChange = (place?: string) => {
      if (place === undefined || !isSource(place)) {
        next?.child.kill('SIGKILL');
        next = undefined;
      }
      resolve();
    };
    try {
      watch(onChange, signal);
    } catch (error) {
      // A folder has just been removed.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      onChange();
    }
  });
}

let current: Started | undefined;
let next: Started | undefined;
let isEnding = false;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, async () => {
    // Ctrl-C in a terminal reaches the program too, which a second signal would end at once.
    const isSent = signal === 'SIGINT' && process.stdin.isTTY && !isEnding;
    isEnding = true;
    if (!isSent) current?.child.kill(signal);
    if (current) await waitForEnd(current);
    process.exit();
  });
}

while (!isEnding) {
  const watching = new AbortController();
  // The program starts after the watch, so that no change is lost.
  const changed = nextChange(watching.signal);
  current = takePrepared() ?? prepare();
  const { child, ended } = current;
  child.send('start', () => {}); // Node keeps it until the process listens
  ended.then((code) => {
    if (!child.killed && !isEnding) console.log(`Ended with ${code}: waiting for a change`);
  });
  const preparing = setTimeout(() => {
    if (CAN_PREPARE) next = prepare();
  }, PREPARE_AFTER_MS);
  await changed;
  clearTimeout(preparing);
  await sleep(SETTLE_MS);
  if (isEnding) break;
  console.log('Restarting after a change');
  child.kill();
  await waitForEnd(current);
  watching.abort();
}
