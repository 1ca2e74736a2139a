import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const MODULE = new URL('output.ts', import.meta.url).href;

/** The exit code of a program that is interrupted after its reader has closed the pipe. */
async function exitCodeOf(first: string): Promise<number> {
  const program = `
    ${first}
    process.on('SIGINT', () => {
      console.log('interrupted');
      setTimeout(() => console.log('cleaning up'), 10);
      setTimeout(() => process.exit(7), 100);
    });
    setTimeout(() => {}, 10_000);
    console.log('begun');`;
  const args = ['--input-type=module', '--eval', program];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] });
  await once(child.stdout, 'data');
  child.stdout.destroy();
  await once(child.stdout, 'close');
  child.kill('SIGINT');
  const [code] = await once(child, 'exit');
  return code;
}

test('a program cleans up although its reader has closed the pipe', async () => {
  expect(
    await exitCodeOf(`import { ignoreClosedOutput } from '${MODULE}'; ignoreClosedOutput();`),
  ).toBe(7);
  expect(await exitCodeOf('')).toBe(1);
});

test('status prints no error if its reader has closed the pipe', async () => {
  const program = fileURLToPath(new URL('status.ts', import.meta.url));
  const child = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.destroy();

  const [errors, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);

  expect({ errors, code }).toEqual({ errors: '', code: 0 });
});
