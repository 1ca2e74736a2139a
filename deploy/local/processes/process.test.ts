import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ProcessPlan, StartedProcess } from './process.ts';
import {
  isRunning,
  processIdentity,
  startProcess,
  stopProcess,
  waitUntilReady,
} from './process.ts';

let folder: string;
const started: StartedProcess[] = [];

beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fw-process-'));
});

afterEach(async () => {
  await Promise.all(started.splice(0).map(({ record }) => stopProcess(record, 0)));
  fs.rmSync(folder, { recursive: true });
});

/** A process that runs `script`, and prints `up` once it does. */
async function runScript(script: string): Promise<StartedProcess> {
  const plan: ProcessPlan = {
    name: 'trial',
    command: process.execPath,
    args: ['-e', `${script}; console.log('up'); setInterval(() => {}, 1000)`],
    env: {},
    cwd: folder,
    ports: [],
    address: 'none',
    // The discard port: no server listens there.
    readyUrl: 'http://127.0.0.1:9/readyz',
    fingerprint: 'f',
  };
  const process_ = await startProcess(plan, path.join(folder, 'log'));
  started.push(process_);
  return process_;
}

async function hasPrinted(text: string): Promise<void> {
  await expect.poll(() => fs.readFileSync(path.join(folder, 'log'), 'utf8')).toContain(text);
}

test('startProcess writes what the process prints to its log', async () => {
  await runScript('console.error("from stderr")');

  await hasPrinted('from stderr');
});

test('only the owner can read the log of a process', async () => {
  await runScript('');

  const modes = [folder, path.join(folder, 'log')].map((file) => fs.statSync(file).mode & 0o777);
  expect(modes).toEqual([0o700, 0o600]);
});

test('a process that opens its output again does not overwrite other lines', async () => {
  await runScript(
    'require("fs").appendFileSync("/dev/stdout", "first\\n"); console.error("second")',
  );

  await hasPrinted('first\nsecond\nup\n');
});

test('a process has one identity for as long as it runs, and none afterwards', async () => {
  const { record } = await runScript('');

  expect(processIdentity(record.pid)).toBe(record.identity);
  expect(processIdentity(process.pid)).not.toBe(record.identity);
  await stopProcess(record);
  expect(processIdentity(record.pid)).toBeUndefined();
});

test('stopProcess leaves a process alone that only has the recorded id', async () => {
  const { record } = await runScript('');
  const recycled = { ...record, identity: 'an earlier process' };

  await stopProcess(recycled);

  expect(isRunning(recycled)).toBe(false);
  expect(isRunning(record)).toBe(true);
});

test('stopProcess lets a process end by itself', async () => {
  const { record, child } = await runScript('process.on("SIGTERM", () => process.exit(7))');
  await hasPrinted('up');

  expect(await stopProcess(record)).toBe(true);
  await expect.poll(() => child.exitCode).toBe(7);
});

test('stopProcess ends a process by force that ignores SIGTERM', async () => {
  const { record, child } = await runScript('process.on("SIGTERM", () => {})');
  await hasPrinted('up');

  expect(await stopProcess(record, 100)).toBe(false);
  await expect.poll(() => child.signalCode).toBe('SIGKILL');
});

test('waitUntilReady rejects at once when the process ends', async () => {
  const { record } = await runScript('process.exit(1)');

  await expect(waitUntilReady(record)).rejects.toThrow('trial ended while starting');
});

test('waitUntilReady rejects with the address if it does not respond in time', async () => {
  const { record } = await runScript('');

  await expect(waitUntilReady(record, 50)).rejects.toThrow('http://127.0.0.1:9/readyz');
});
