import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

// node dev.ts src .env -- src/main.ts: runs a program of Node for development, with the variables in .env if there is
// such a file, and again after each change in these folders and files.
// Many editors save a file under another name and rename it, which node --watch sees only once.
const split = process.argv.indexOf('--');
const watched = process.argv.slice(2, split);
const program = process.argv.slice(split + 1);

/** An editor may save a file in several steps. */
const SETTLE_MS = 100;

/** Names of swap files, locks and backups. */
const TEMPORARY = /^\.|~$/;

const env = {
  ...process.env,
  NODE_ENV: 'development',
  NODE_COMPILE_CACHE: 'node_modules/.cache/node',
};

/** Starts the program. Node's `--env-file-if-exists` would print a line whenever the file is missing. */
function start(): ChildProcess {
  const envFile = fs.existsSync('.env') ? ['--env-file=.env'] : [];
  return spawn(process.execPath, [...envFile, ...program], { stdio: 'inherit', env });
}

/** Calls `onChange` for each change of the watched folders and files, which may appear or disappear. */
function watch(onChange: () => void, signal: AbortSignal): void {
  for (const one of watched) {
    if (fs.statSync(one, { throwIfNoEntry: false })?.isDirectory()) {
      for (const folder of [one, ...foldersIn(one)]) {
        fs.watch(folder, { signal }, (_, name) => {
          if (!name || !TEMPORARY.test(name)) onChange();
        }).on('error', onChange);
      }
    } else {
      fs.watch(path.dirname(one), { signal }, (_, name) => {
        if (name === path.basename(one)) onChange();
      }).on('error', onChange);
    }
  }
}

function foldersIn(folder: string): string[] {
  return fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ parentPath, name }) => path.join(parentPath, name));
}

/** Resolves after the first change from now on. */
function nextChange(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    try {
      watch(resolve, signal);
    } catch (error) {
      // A folder has just been removed.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      resolve();
    }
  });
}

let child: ChildProcess | undefined;
let ended: Promise<unknown> | undefined;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, async () => {
    child?.kill(signal);
    await ended;
    process.exit();
  });
}

for (;;) {
  const watching = new AbortController();
  // The program starts after the watch, so that no change is lost.
  const changed = nextChange(watching.signal);
  child = start();
  ended = once(child, 'exit').then(([code]) => {
    if (!child?.killed) console.log(`Ended with ${code}: waiting for a change`);
  });
  await changed;
  await sleep(SETTLE_MS);
  console.log('Restarting after a change');
  child.kill();
  await ended;
  watching.abort();
}
