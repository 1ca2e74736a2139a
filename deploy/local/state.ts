import fs from 'node:fs';
import path from 'node:path';

import { isRunning, type ProcessRecord } from './processes/process.ts';

/** The folders of the local system, all in `.local` of the checkout. */
export interface Folders {
  readonly root: string;
  /** The state, the token secret and the edge's configuration; `make down` removes it. */
  readonly run: string;
  /** One log per process; `make down` removes it. */
  readonly logs: string;
  /** The databases of users and catalog; only `make down CLEAN=1` removes it. */
  readonly data: string;
}

/** The folders of the checkout at `root`. */
export function foldersOf(root: string): Folders {
  const local = path.join(root, '.local');
  const folder = (name: string) => path.join(local, name);
  return { root, run: folder('run'), logs: folder('logs'), data: folder('data') };
}

/** The folders of this checkout. */
export const folders: Folders = foldersOf(path.resolve(import.meta.dirname, '../..'));

/** The processes of the local system that run now. */
export function readRunning(run: string): ProcessRecord[] {
  return readRecords(run).filter(isRunning);
}

/** The recorded processes, including those that have ended. */
export function readRecords(run: string): ProcessRecord[] {
  const file = path.join(run, 'state.json');
  const records: unknown = fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')) : [];
  // Signals to process group -1 or to process 1 would reach other processes.
  return Array.isArray(records)
    ? records.filter(({ pid }: ProcessRecord) => Number.isSafeInteger(pid) && pid > 1)
    : [];
}

/** Records the running processes. */
export function writeRecords(run: string, records: readonly ProcessRecord[]): void {
  writeFile(path.join(run, 'state.json'), `${JSON.stringify(records, undefined, 2)}\n`);
}

/** Replaces `file` atomically; only the owner can read it. */
export function writeFile(file: string, text: string): void {
  const draft = `${file}.${process.pid}`;
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(draft, text, { mode: 0o600 });
  fs.renameSync(draft, file);
}
