import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';

import { expect, test } from 'vitest';

/** The arguments of Node that run `script` with a logger. */
function argumentsOf(script: string): string[] {
  const module = new URL('./logging.ts', import.meta.url).href;
  const source = `import { createLogger } from '${module}'; const logger = createLogger('test'); ${script}`;
  return ['--input-type=module', '-e', source];
}

/** Runs `script` with a logger whose standard output is a pipe. */
function runScript(script: string) {
  const child = spawn(process.execPath, argumentsOf(script), { stdio: ['pipe', 'pipe', 'pipe'] });
  const read = async (stream: AsyncIterable<Buffer>) => {
    const chunks: Buffer[] = [];
    for await (const chunk of stream) chunks.push(chunk);
    return Buffer.concat(chunks).toString();
  };
  return { child, read, ended: once(child, 'close').then(([code]) => Number(code)) };
}

const MANY = `for (let n = 1; n <= 5_000; n++) logger.request({ route: 'line ' + n + ' ' + 'x'.repeat(100) });`;

test.each([
  ['process.exit', 'process.exit(0)', 0],
  ['an uncaught error', 'throw new Error("fatal")', 1],
])('no line is lost on %s', async (_, end, expected) => {
  const { child, read, ended } = runScript(`${MANY} ${end}`);
  child.stderr.resume();

  const written = await read(child.stdout);

  expect(await ended).toBe(expected);
  expect(written.split('\n')).toHaveLength(5_001);
  expect(written).toMatch(/line 5000 x+".*\n$/);
});

test('the line of a request is written while the process runs', async () => {
  const { child, ended } = runScript(
    `logger.request({ route: 'kept' }); setInterval(() => {}, 1_000);`,
  );

  const [chunk] = await once(child.stdout, 'data');
  child.kill('SIGKILL');
  await ended;

  expect(String(chunk)).toMatch(/kept.*\n$/);
});

test('a closed standard output does not end the process', async () => {
  const { child, ended } = runScript(`
    process.stdin.on('data', () => {
      ${MANY}
      setTimeout(() => { ${MANY} process.exit(7); }, 150);
    });
  `);
  child.stdout.destroy();
  await once(child.stdout, 'close');

  child.stdin.write('go');

  expect(await ended).toBe(7);
});

// Writing to this device of Linux fails with ENOSPC, as on a full disk.
test.skipIf(!existsSync('/dev/full'))('a full disk does not end the process', async () => {
  const full = openSync('/dev/full', 'w');
  const script = `${MANY} setTimeout(() => { ${MANY} logger.error('last'); process.exit(7); }, 150);`;

  const child = spawn(process.execPath, argumentsOf(script), { stdio: ['ignore', full, 'ignore'] });
  const [code] = await once(child, 'close');
  closeSync(full);

  expect(code).toBe(7);
});
