import fs from 'node:fs';
import type { Folders } from '../state.ts';
import { readRunning } from '../state.ts';
import type { ProcessRecord } from './process.ts';
import { isRunning, stopProcess } from './process.ts';

/**
 * Stops every process of the system and removes what it wrote; the data too if `clean`. Tells how
 * many processes ran.
 *
 * @throws {Error} naming each process that does not end, whose files then stay
 */
export async function stopSystem(folders: Folders, { clean = false } = {}): Promise<number> {
  const running = readRunning(folders.run);
  // The edge first: nobody is sent to a service that is going away.
  await stopAll(running.filter(({ name }) => name === 'edge'));
  await stopAll(running.filter(({ name }) => name !== 'edge'));

  const left = running.filter(isRunning);
  if (left.length > 0) {
    const names = left.map(({ name, pid }) => `${name} (process ${pid})`).join(', ');
    throw new Error(`Cannot stop ${names}`);
  }
  for (const folder of [folders.run, folders.logs, ...(clean ? [folders.data] : [])]) {
    fs.rmSync(folder, { recursive: true, force: true });
  }
  return running.length;
}

async function stopAll(records: readonly ProcessRecord[]): Promise<void> {
  await Promise.all(records.map((record) => stopProcess(record)));
}
