import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { isPortFree } from './processes/ports.ts';
import { processIdentity } from './processes/process.ts';
import { replicasOf } from './processes/system.ts';
import { folders } from './state.ts';

const { values } = parseArgs({ options: { port: { type: 'string', default: '8080' } } });
const edgePort = Number(values.port);

const ports = [
  edgePort,
  ...replicasOf(edgePort).flatMap(({ port, healthPort }) => [port, healthPort]),
];
const left: string[] = [];
for (const port of ports) {
  if (!(await isPortFree(port))) left.push(`port ${port}`);
}
for (const { pid, command } of processesOfOurs()) left.push(`process ${pid}: ${command}`);
for (const folder of [folders.run, folders.logs]) {
  if (fs.existsSync(folder)) left.push(path.relative(folders.root, folder));
}

console.log(left.length === 0 ? 'Nothing is left behind' : `Left behind: ${left.join(', ')}`);
process.exitCode = left.length === 0 ? 0 : 1;

/** The processes of this checkout that run a bundle, the edge's configuration or a way to an edge. */
function processesOfOurs(): { pid: number; command: string }[] {
  const marks = [
    path.join(folders.root, 'services') + path.sep,
    path.join(folders.run, 'nginx'),
    path.join(import.meta.dirname, 'cluster/forward.ts'),
  ];
  return commands().filter(
    ({ pid, command }) => marks.some((mark) => command.includes(mark)) && processIdentity(pid),
  );
}

function commands(): { pid: number; command: string }[] {
  if (!fs.existsSync('/proc/self/cmdline')) {
    const lines = execFileSync('ps', ['-ax', '-o', 'pid=', '-o', 'args='], { encoding: 'utf8' })
      .trim()
      .split('\n');
    return lines.map((line) => ({ pid: Number.parseInt(line, 10), command: line }));
  }
  const pids = fs.readdirSync('/proc').map(Number).filter(Number.isInteger);
  return pids.map((pid) => ({ pid, command: commandOf(pid) }));
}

function commandOf(pid: number): string {
  try {
    return fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}
