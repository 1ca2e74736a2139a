import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';

import { formatLogLine } from './log-line.ts';
import { folders } from './state.ts';

/** Follows the logs of every process: for eyes in a terminal, as they were written otherwise. */
function follow(file: string): void {
  const name = path.basename(file, '.log');
  const tail = spawn('tail', ['-n', '5', '-F', file], { stdio: ['ignore', 'pipe', 'ignore'] });
  createInterface(tail.stdout).on('line', (line) => {
    console.log(process.stdout.isTTY ? formatLogLine(name, line) : line);
  });
}

const files = fs.globSync(path.join(folders.logs, '*.log')).sort();
if (files.length === 0) console.log('Nothing is running (make up starts it)');
process.on('SIGINT', () => process.exit());
for (const file of files) follow(file);
