import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect } from 'node:net';

import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';

import { ensureTool } from '../../../../tools/programs.ts';
import { startPostgres } from './postgres.ts';

async function query(url: string, text: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  client.on('error', () => {});
  await client.connect();
  const { rows } = await client.query({ text, rowMode: 'array' });
  await client.end();
  return rows[0]?.[0];
}

/** Resolves once no server listens at `url`. */
async function untilGone(url: string): Promise<void> {
  for (;;) {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (!isOpen) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test('a server restarts at the same address with its data after restart, pause and kill', async () => {
  const server = await startPostgres();
  onTestFinished(() => server.stop());
  const url = await server.createDatabase();
  await query(url, 'CREATE TABLE notes AS SELECT 1');
  const directory = String(await query(url, 'SHOW data_directory'));

  await server.restart();
  expect(await query(url, 'SELECT count(*) FROM notes')).toBe('1');
  await server.pause();
  await server.resume();
  expect(await query(url, 'SELECT count(*) FROM notes')).toBe('1');
  await server.kill();
  await expect(query(url, 'SELECT 1')).rejects.toThrow('ECONNREFUSED');
  await server.restart();
  expect(await query(url, 'SELECT 1')).toBe(1);

  await server.stop();
  expect(existsSync(directory)).toBe(false);
});

test('a server ends with the process that started it, even if that is killed', async () => {
  ensureTool('postgres');
  const program = `
    import { startPostgres } from ${JSON.stringify(new URL('./postgres.ts', import.meta.url))};
    const server = await startPostgres();
    await server.pause();
    process.stdout.write(server.url);
  `;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program]);
  const [url] = await once(child.stdout, 'data');

  child.kill('SIGKILL');

  await expect(untilGone(String(url))).resolves.toBeUndefined();
});
