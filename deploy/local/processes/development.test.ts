import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { readRunning } from '../state.ts';
import { startTrialSystem } from '../testing/trial-system.ts';

const MAIN = path.resolve(import.meta.dirname, '../../../services/users/src/main.ts');

const WAIT = { timeout: 60_000 };

/** Opens connections with a request on each that stay open, as those of browsers do. */
function openConnections(port: number): void {
  for (let index = 0; index < 20; index++) {
    const socket = net.connect(port, '127.0.0.1').on('error', () => {});
    socket.write('GET /api/v2/users HTTP/1.1\r\nHost: a\r\n\r\n');
    onTestFinished(() => void socket.destroy());
  }
}

test('a service in watch mode restarts after each change, also with open connections, until make up', async () => {
  const system = await startTrialSystem();
  onTestFinished(() => system.stop());
  const { folders, port, origin } = system;
  const isServed = async () => (await fetch(`${origin}/api/v2/users`)).status === 200;
  const log = () => fs.readFileSync(path.join(folders.logs, 'users-1.log'), 'utf8');
  const starts = () => log().split('Health: Listening').length - 1;
  const namesOf = () => readRunning(folders.run).map(({ name }) => name);

  await system.up({}, 'users');
  const servedFirst = await isServed();
  const namesInDevelopment = namesOf();
  openConnections(port + 1);
  for (const start of [2, 3]) {
    // Many editors save a file under another name and rename it.
    fs.copyFileSync(MAIN, `${MAIN}~`);
    fs.renameSync(`${MAIN}~`, MAIN);
    await expect.poll(starts, WAIT).toBe(start);
    await expect.poll(isServed, WAIT).toBe(true);
  }
  await system.up();

  expect(servedFirst).toBe(true);
  expect(namesInDevelopment.filter((name) => name.startsWith('users'))).toEqual(['users-1']);
  expect(namesOf()).toHaveLength(6);
  expect(await isServed()).toBe(true);
});
