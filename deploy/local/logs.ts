import { type ChildProcess, spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { styleText } from 'node:util';

import { SERVICE_NAMES } from '../../services/services.ts';
import { PLACE } from './cluster/install.ts';
import { kubeconfigFile, readKind, requireRunningNode } from './cluster/kind.ts';
import { folders } from './state.ts';

/** A line of a replica, or of another program of the system. */
interface Line {
  readonly replica: string;
  readonly text: string;
  /** That of the line before it if the line has no time, such as that of a stack. */
  readonly timeMs: number;
}

/** The lines of a log that are printed at the start. */
const LAST_LINES = 5;

/** The end of a log in which they are. */
const END_BYTES = 64 * 1024;

/** Prints lines in the order of their times, each at most `delayMs` after it was read. */
export function createMerge(print: (line: Line) => void, delayMs: number) {
  const waiting: Line[] = [];
  const last = new Map<string, number>();
  const flush = () => {
    const lines = waiting.splice(0).sort((one, other) => one.timeMs - other.timeMs);
    for (const line of lines) print(line);
  };
  return (replica: string, text: string) => {
    const timeMs = timeOf(text) ?? last.get(replica) ?? Date.now();
    last.set(replica, timeMs);
    if (waiting.push({ replica, text, timeMs }) === 1) setTimeout(flush, delayMs);
  };
}

/** The time of a line: of the services, of nginx, which rounds `time` down to a second, or of another program. */
function timeOf(text: string): number | undefined {
  const { time, endSeconds } = readEntry(text);
  const [found = ''] = /\d{4}[-/]\d\d[-/]\d\d[T ][\d:.]+(?:Z|[+-]\d\d:\d\d)?/.exec(text) ?? [];
  const timeMs = endSeconds ? Number(endSeconds) * 1000 : Date.parse(time ?? found);
  return Number.isNaN(timeMs) ? undefined : timeMs;
}

/** Calls `onLine` for the last lines of a log, then for each new line, until the returned process is killed. */
export function followFile(file: string, onLine: (text: string) => void): ChildProcess {
  const descriptor = fs.openSync(file, 'r');
  const size = fs.fstatSync(descriptor).size;
  const start = Math.max(0, size - END_BYTES);
  const bytes = Buffer.alloc(size - start);
  fs.readSync(descriptor, bytes, 0, bytes.length, start);
  fs.closeSync(descriptor);
  const end = bytes.lastIndexOf('\n') + 1;
  const lines = bytes
    .toString('utf8', 0, end)
    .split('\n')
    .slice(-1 - LAST_LINES, -1);
  for (const line of lines) onLine(line);
  // It also follows a file that replaces this one.
  return followProgram(['tail', '-c', `+${start + end + 1}`, '-F', file], onLine);
}

function followProgram([command = '', ...args]: readonly string[], onLine: (text: string) => void) {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'ignore'] });
  process.once('exit', () => child.kill());
  createInterface(child.stdout).on('line', onLine);
  return child;
}

/** A line for other programs: an entry gets the member `replica`, any other text is preceded by it. */
export function labelLine({ replica, text }: Line): string {
  const isEntry = Object.keys(readEntry(text)).length > 1;
  return isEntry ? `{"replica":"${replica}",${text.slice(1)}` : `${replica} ${text}`;
}

/**
 * A line for a terminal: `12:01:02 users-1    GET /api/v2/users/:id 200 1.2 ms  ada  <request id>`.
 * Only the first column is added to a line that is not a JSON object.
 */
function formatLine({ replica, text: line }: Line): string {
  const entry = readEntry(line);
  const time = entry.time ? new Date(entry.time).toTimeString().slice(0, 8) : '';
  const text = entry.status ? describeRequest(entry) : describeMessage(entry);
  return `${styleText('dim', time.padEnd(8))} ${replica.padEnd(10)} ${text}`;
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

/** The pod in `[pod/users-0/users] text`, and the text. */
const PREFIXED = /^\[pod\/([^/]+)\/[^\]]+\] (.*)$/;

async function main(): Promise<void> {
  const kind = readKind(folders.run);
  const files = fs.globSync('*.log', { cwd: folders.logs });
  if (files.length === 0 && !kind) console.log('Nothing is running (make up starts it)');
  const format = process.stdout.isTTY ? formatLine : labelLine;
  // The logs of pods arrive one after the other.
  const add = createMerge((line) => console.log(format(line)), kind ? 1_000 : 100);
  if (!kind) {
    for (const file of files) {
      followFile(path.join(folders.logs, file), (text) => add(path.basename(file, '.log'), text));
    }
    return;
  }
  await requireRunningNode(kind);
  const where = ['--kubeconfig', kubeconfigFile(folders.run), '--namespace', PLACE.namespace];
  for (const part of [...SERVICE_NAMES, 'edge']) {
    const pods = [
      '--prefix',
      '--max-log-requests=20',
      '--selector',
      `app.kubernetes.io/name=${part}`,
    ];
    const what = ['logs', '--follow', `--tail=${LAST_LINES}`, ...pods];
    followProgram(['kubectl', ...where, ...what], (line) => {
      const [, pod = part, text = line] = PREFIXED.exec(line) ?? [];
      add(pod, text);
    });
  }
}

if (import.meta.main) {
  process.on('SIGINT', () => process.exit()).on('SIGTERM', () => process.exit());
  // A reader such as head may close the pipe.
  process.stdout.on('error', () => process.exit());
  try {
    await main();
  } catch (error) {
    console.error((error as Error).message);
    process.exit(1);
  }
}
