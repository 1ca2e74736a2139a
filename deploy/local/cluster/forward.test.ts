import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { freePortsFrom } from '../testing/ports.ts';

/** A server in place of kubectl; the first one stops responding after one response. */
const LISTEN = `
const [file, port] = process.argv.slice(1);
const isFirst = !require('node:fs').existsSync(file);
require('node:fs').appendFileSync(file, process.pid + '\\n');
let responses = 0;
require('node:http').createServer((request, response) => {
  if (isFirst && responses++ > 0) return request.socket.destroy();
  response.end('ok');
}).listen(port, '127.0.0.1');
`;

test('a port-forward whose pod has ended is restarted, and ends with the program', {
  timeout: 60_000,
}, async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'forward-'));
  onTestFinished(() => fs.rmSync(folder, { recursive: true }));
  const file = path.join(folder, 'started');
  const port = await freePortsFrom([0]);
  const program = path.join(import.meta.dirname, 'forward.ts');
  const listen = [process.execPath, '-e', LISTEN, file, String(port)];
  const keeper = spawn(process.execPath, [program, `http://127.0.0.1:${port}/`, ...listen]);
  onTestFinished(() => void keeper.kill('SIGKILL'));
  const started = () =>
    fs.existsSync(file) ? fs.readFileSync(file, 'utf8').trim().split('\n').map(Number) : [];

  await expect.poll(() => started().length, { timeout: 40_000 }).toBeGreaterThan(1);
  keeper.kill();
  await once(keeper, 'exit');

  for (const pid of started()) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
});
