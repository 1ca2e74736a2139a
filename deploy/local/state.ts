import fs from 'node:fs';
import path from 'node:path';
import type { ProcessRecord } from './processes/process.ts';
import { isRunning } from './processes/process.ts';

/** Where the local system keeps its files, all below `.local` of the checkout. */
export interface Folders {
  readonly root: string;
  /** Removed by `make down`: the state, the secret of the tokens, the edge's configuration. */
  readonly run: string;
  /** Removed by `make down`. */
  readonly logs: string;
  /** Kept by `make down`: the databases of users and catalog. */
  readonly data: string;
}

/** The folders of the checkout at `root`. */
export function foldersOf(root: string): Folders {
  const local = path.join(root, '.local');
  return {
    root,
    run: path.join(local, 'run'),
    logs: path.join(local, 'logs'),
    data: path.join(local, 'data'),
  };
}

/** The folders of this checkout. */
export const folders: Folders = foldersOf(path.resolve(import.meta.dirname, '../..'));

/** The processes of ours that run now; one that ended by itself is left out. */
export function readRunning(run: string): ProcessRecord[] {
  return readRecords(run).filter(isRunning);
}

/** The processes that were written down, whether they still run or not. */
export function readRecords(run: string): ProcessRecord[] {
  let text: string;
  try {
    text = fs.readFileSync(path.join(run, 'state.json'), 'utf8');
  } catch {
    return [];
  }
  const records: unknown = JSON.parse(text);
  return Array.isArray(records) ? records.filter(isRecord) : [];
}

/** Writes down the processes that run, in one step: a reader sees the old list or the new one. */
export function writeRecords(run: string, records: readonly ProcessRecord[]): void {
  fs.mkdirSync(run, { recursive: true });
  const draft = path.join(run, `state.json.${process.pid}`);
  fs.writeFileSync(draft, `${JSON.stringify(records, undefined, 2)}\n`);
  fs.renameSync(draft, path.join(run, 'state.json'));
}

function isRecord(value: unknown): value is ProcessRecord {
  if (typeof value !== 'object' || value === null) return false;
  const { name, pid, identity, address, readyUrl, ports, fingerprint } = value as ProcessRecord;
  return (
    [name, identity, address, readyUrl, fingerprint].every((text) => typeof text === 'string') &&
    Number.isSafeInteger(pid) &&
    pid > 1 &&
    Array.isArray(ports)
  );
}
