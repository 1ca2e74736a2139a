import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { afterAll, expect, onTestFinished, test } from 'vitest';

import { startProgram } from '../../deploy/local/testing/program.ts';

const root = join(import.meta.dirname, '../..');
mkdirSync(join(root, '.local'), { recursive: true });
// Inside the checkout, so that the packages are found.
const folder = mkdtempSync(join(root, '.local/readme-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const readme = readFileSync(join(root, 'README.md'), 'utf8');
/** The first block of TypeScript, which imports what it uses. */
const [, program = ''] = /^```ts\n(import .*?)^```/ms.exec(readme) ?? [];

test('the program in the README type-checks', async () => {
  writeFileSync(join(folder, 'checked.ts'), program);
  const tsconfig = { extends: join(root, 'tsconfig.json'), include: ['checked.ts'] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(tsconfig));

  const tsc = promisify(execFile)('node', [
    join(root, 'node_modules/typescript/bin/tsc'),
    '-p',
    folder,
  ]);
  const output = await tsc.then(
    () => '',
    (error: { stdout: string }) => error.stdout,
  );

  expect(output).toBe('');
});

test('the program in the README serves what it says', async () => {
  const file = join(folder, 'program.ts');
  writeFileSync(file, program.replace('listen(app, 3000)', 'listen(app, 0)'));
  const { match, stop } = await startProgram([process.execPath, file], { ready: /http:\S+/ });
  onTestFinished(() => stop());
  const [origin] = match;

  const found = await fetch(`${origin}/api/v1/users/7`);
  const missing = await fetch(`${origin}/api/v1/users/8`);

  expect(await found.json()).toEqual({ data: { id: '7', name: 'Ada' } });
  expect(missing.status).toBe(404);
  expect(await missing.json()).toMatchObject({ detail: 'User "8" not found', code: 'NOT_FOUND' });
});
