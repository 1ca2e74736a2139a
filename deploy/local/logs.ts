import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';

import { SERVICE_NAMES } from '../../services/services.ts';
import { PLACE } from './cluster/install.ts';
import { kubeconfigFile, readKind, requireRunningNode } from './cluster/kind.ts';
import { formatLogLine } from './log-line.ts';
import { folders } from './state.ts';

/** Prints the output of a program as it comes: readable in a terminal, unchanged otherwise. */
function follow(name: string, [command = '', ...args]: readonly string[]): void {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'ignore'] });
  process.once('exit', () => child.kill());
  createInterface(child.stdout).on('line', (line) => {
    console.log(process.stdout.isTTY ? formatLogLine(name, line) : line);
  });
}

const kind = readKind(folders.run);
const files = fs.globSync(path.join(folders.logs, '*.log')).sort();
if (files.length === 0 && !kind) console.log('Nothing is running (make up starts it)');
process.on('SIGINT', () => process.exit()).on('SIGTERM', () => process.exit());
// A reader such as head may close the pipe.
process.stdout.on('error', () => process.exit());
if (kind) {
  try {
    await requireRunningNode(kind);
  } catch (error) {
    console.error((error as Error).message);
    process.exit(1);
  }
  const { namespace, release } = PLACE;
  const where = ['--kubeconfig', kubeconfigFile(folders.run), '--namespace', namespace];
  for (const part of [...SERVICE_NAMES, 'edge']) {
    const pods = `app.kubernetes.io/instance=${release},app.kubernetes.io/name=${part}`;
    const what = ['logs', '--follow', '--tail=5', '--max-log-requests=20', '--selector', pods];
    follow(part, ['kubectl', ...where, ...what]);
  }
} else {
  for (const file of files) follow(path.basename(file, '.log'), ['tail', '-n', '5', '-F', file]);
}
