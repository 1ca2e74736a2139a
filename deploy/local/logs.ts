import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { styleText } from 'node:util';

import { SERVICE_NAMES } from '../../services/services.ts';
import { PLACE } from './cluster/install.ts';
import { kubeconfigFile, readKind, requireRunningNode } from './cluster/kind.ts';
import { folders } from './state.ts';

/** Prints the output of a program as it comes: readable in a terminal, unchanged otherwise. */
function follow(name: string, [command = '', ...args]: readonly string[]): void {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'ignore'] });
  process.once('exit', () => child.kill());
  createInterface(child.stdout).on('line', (line) => {
    console.log(process.stdout.isTTY ? formatLine(name, line) : line);
  });
}

/**
 * A line for a terminal: `12:01:02 users-1    GET /api/v2/users/:id 200 1.2 ms  ada  <request id>`.
 * Only the first column is added to a line that is not a JSON object.
 */
function formatLine(name: string, line: string): string {
  const entry = readEntry(line);
  const time = entry.time ? new Date(entry.time).toTimeString().slice(0, 8) : '';
  const text = entry.status ? describeRequest(entry) : describeMessage(entry);
  return `${styleText('dim', time.padEnd(8))} ${name.padEnd(10)} ${text}`;
}

type Entry = Readonly<Record<string, string | undefined>>;

function readEntry(line: string): Entry {
  try {
    return line.startsWith('{') ? JSON.parse(line) : { message: line };
  } catch {
    return { message: line };
  }
}

/** The services log `route` and `durationMs`, the edge `path` and `seconds`. */
function describeRequest(entry: Entry): string {
  const { method, route, path: target, status, durationMs, seconds } = entry;
  const ms = Number(durationMs ?? Number(seconds) * 1000).toFixed(1);
  const isFailed = Number(status) >= 500;
  const request = `${method} ${route || target || '(no route)'} ${status} ${ms} ms`;
  return [isFailed ? styleText('red', request) : request, entry.via, entry.userId, entry.requestId]
    .filter(Boolean)
    .join('  ');
}

function describeMessage({ level, message, error }: Entry): string {
  const text = error ? `${message}\n${error}` : `${message}`;
  return level === 'warn' || level === 'error' ? styleText('red', `${level}: ${text}`) : text;
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
  const where = ['--kubeconfig', kubeconfigFile(folders.run), '--namespace', PLACE.namespace];
  for (const part of [...SERVICE_NAMES, 'edge']) {
    const pods = `app.kubernetes.io/name=${part}`;
    const what = ['logs', '--follow', '--tail=5', '--max-log-requests=20', '--selector', pods];
    follow(part, ['kubectl', ...where, ...what]);
  }
} else {
  for (const file of files) follow(path.basename(file, '.log'), ['tail', '-n', '5', '-F', file]);
}
