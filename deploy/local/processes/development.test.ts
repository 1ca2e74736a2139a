import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { readRunning } from '../state.ts';
import { startTrialSystem } from '../testing/trial-system.ts';
import type { ProcessRecord } from './process.ts';

const MAIN = path.resolve(import.meta.dirname, '../../../services/users/src/main.ts');

const STARTED = 'users restarts after each change of its source (Ctrl-C: back to make up)';
const WAIT = { timeout: 60_000 };

/** Opens connections with a request on each that stay open, as those of browsers do. */
function openConnections(port: number): void {
  for (let index = 0; index < 20; index++) {
    const socket = net.connect(port, '127.0.0.1').on('error', () => {});
    socket.write('GET /api/v2/users HTTP/1.1\r\nHost: a\r\n\r\n');
    onTestFinished(() => void socket.destroy());
  }
}

test('make dev restarts a service after each change, also with open connections', async () => {
  const { folders, port, origin, ...system } = await startTrialSystem();
  onTestFinished(() => system.stop());
  const isServed = async () => (await fetch(`${origin}/api/v2/users`)).status === 200;
  const log = () => fs.readFileSync(path.join(folders.logs, 'users-1.log'), 'utf8');
  const starts = () => log().split('Health: Listening').length - 1;

  const interrupt = Promise.withResolvers<void>();
  const developed = system.develop('users', interrupt.promise);
  await expect.poll(() => system.progress, WAIT).toContain(STARTED);
  openConnections(port + 1);
  for (const start of [2, 3]) {
    // Many editors save a file under another name and rename it.
    fs.copyFileSync(MAIN, `${MAIN}~`);
    fs.renameSync(`${MAIN}~`, MAIN);
    await expect.poll(starts, WAIT).toBe(start);
    await expect.poll(isServed, WAIT).toBe(true);
  }
  interrupt.resolve();
  await developed;

  expect(await isServed()).toBe(true);
});

test('make dev restores what ran before, with its variables, and restarts no other service', async () => {
  const system = await startTrialSystem({ BODY_LIMIT: '2000', WITHOUT_VERSION: 'v1' });
  onTestFinished(() => system.stop());
  const running = () => readRunning(system.folders.run);
  const partsOf = (records: readonly ProcessRecord[]) =>
    records.map(({ name, fingerprint }) => `${name} ${fingerprint}`).sort();
  const before = running();
  // make passes on what the services read of it.
  fs.writeFileSync(
    path.join(system.folders.root, '.env'),
    'DATABASE_URL=postgres://127.0.0.1:1/a\n',
  );

  const interrupt = Promise.withResolvers<void>();
  const developed = system.develop('users', interrupt.promise);
  await expect.poll(() => system.progress, WAIT).toContain(STARTED);
  const during = running();
  const { status } = await fetch(`${system.origin}/api/v1/users`);
  interrupt.resolve();
  await developed;

  const namesOf = (records: readonly ProcessRecord[]) => records.map(({ name }) => name).sort();
  const others = before.filter(({ name }) => name !== 'edge' && !name.startsWith('users'));
  expect(namesOf(during)).toEqual([...namesOf(others), 'edge', 'users-1'].sort());
  expect(status).toBe(410);
  expect(partsOf(running())).toEqual(partsOf(before));
  expect(running()).toEqual(expect.arrayContaining(others));
});
