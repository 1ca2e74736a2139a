import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { observerPorts } from './observe/observers.ts';
import { isPortFree } from './processes/ports.ts';
import { replicasOf } from './processes/system.ts';
import { folders } from './state.ts';

/** Exits with 1 if the local system left processes, ports or files behind. */
const { values } = parseArgs({ options: { port: { type: 'string', default: '8080' } } });
const edge = Number(values.port);
const found: string[] = [];

const ports = [
  ...[edge, ...Object.values(observerPorts(edge))],
  ...replicasOf(edge).flatMap(({ port, healthPort }) => [port, healthPort]),
];
for (const port of ports) {
  if (!(await isPortFree(port))) found.push(`port ${port}`);
}
const ours = [
  path.join(folders.root, 'services') + path.sep,
  ...['nginx', 'prometheus', 'zipkin'].map((name) => path.join(folders.run, name)),
  path.join(import.meta.dirname, 'observe/collector.ts'),
];
const processes = execFileSync('ps', ['-A', '-o', 'pid=', '-o', 'args='], { encoding: 'utf8' });
for (const line of processes.split('\n')) {
  if (ours.some((mark) => line.includes(mark))) found.push(`process ${line.trim()}`);
}
for (const folder of [folders.run, folders.logs]) {
  if (fs.existsSync(folder)) found.push(path.relative(folders.root, folder));
}

console.log(found.length === 0 ? 'Nothing is left behind' : `Left behind: ${found.join(', ')}`);
process.exitCode = found.length === 0 ? 0 : 1;
