import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';

import { expect, test } from 'vitest';

import { ensureTool } from '../../../../tools/programs.ts';

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
