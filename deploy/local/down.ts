import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import type { ProcessRecord } from './process.ts';
import { isRunning, stopProcess } from './process.ts';
import { folders, readRunning } from './state.ts';

const { values } = parseArgs({ options: { clean: { type: 'boolean', default: false } } });

const running = readRunning(folders.run);
// The edge first: nobody is sent to a service that is going away.
await stopAll(running.filter(({ name }) => name === 'edge'));
await stopAll(running.filter(({ name }) => name !== 'edge'));

const left = running.filter(isRunning);
if (left.length > 0) {
  console.error(
    `Cannot stop ${left.map(({ name, pid }) => `${name} (process ${pid})`).join(', ')}`,
  );
  process.exit(1);
}
for (const folder of [folders.run, folders.logs, ...(values.clean ? [folders.data] : [])]) {
  fs.rmSync(folder, { recursive: true, force: true });
}
console.log(running.length === 0 ? 'Nothing was running' : `Stopped ${running.length} processes`);
if (fs.existsSync(folders.data)) {
  const data = path.relative(folders.root, folders.data);
  console.log(`The users' data stays in ${data} (make down CLEAN=1 removes it)`);
}

async function stopAll(records: readonly ProcessRecord[]): Promise<void> {
  await Promise.all(records.map((record) => stopProcess(record)));
}
