import { spawn } from 'node:child_process';
import { once } from 'node:events';

import { expect, test } from 'vitest';

/** Runs `script` after `const output = openLogOutput()`, its standard output a pipe. */
function runScript(script: string) {
  const module = new URL('./log-output.ts', import.meta.url).href;
  const source = `import { openLogOutput } from '${module}'; const output = openLogOutput(); ${script}`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', source], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const read = async (stream: AsyncIterable<Buffer>) => {
    const chunks: Buffer[] = [];
    for await (const chunk of stream) chunks.push(chunk);
    return Buffer.concat(chunks).toString();
  };
  return { child, read, ended: once(child, 'close').then(([code]) => Number(code)) };
}

const MANY = `for (let n = 1; n <= 5_000; n++) output.write('line ' + n + ' ' + 'x'.repeat(100) + '\\n');`;

test.each([
  ['an end with code 0', 'process.exit(0)', 0],
  ['an end by itself', '', 0],
  ['an error that nobody catches', 'throw new Error("fatal")', 1],
  ['an end once the loop has run', 'setTimeout(() => process.exit(0), 5)', 0],
])('no line is lost by %s', async (_, end, expected) => {
  const { child, read, ended } = runScript(`${MANY} ${end}`);
  child.stderr.resume();

  const written = await read(child.stdout);

  expect(await ended).toBe(expected);
  expect(written.split('\n')).toHaveLength(5_001);
  expect(written).toMatch(/line 5000 x+\n$/);
});

test('a line that is kept back is written without an end', async () => {
  const { child, ended } = runScript(`output.write('kept\\n'); setInterval(() => {}, 1_000);`);

  const [chunk] = await once(child.stdout, 'data');
  child.kill('SIGKILL');
  await ended;

  expect(String(chunk)).toBe('kept\n');
});

test('a reader that has gone is no reason to end', async () => {
  const { child, ended } = runScript(`
    process.stdin.on('data', () => {
      ${MANY}
      output.flush();
      setTimeout(() => { ${MANY} process.exit(7); }, 150);
    });
  `);
  child.stdout.destroy();
  await once(child.stdout, 'close');

  child.stdin.write('go');

  expect(await ended).toBe(7);
});

test('a reader that pauses reads all of it', async () => {
  const { child, read, ended } = runScript(`process.stdout.on('error', () => {}); ${MANY}`);
  await new Promise((resolve) => setTimeout(resolve, 300));

  const written = await read(child.stdout);

  expect(await ended).toBe(0);
  expect(written.split('\n')).toHaveLength(5_001);
});
