import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

import { afterAll, expect, test } from 'vitest';

const root = import.meta.dirname;
mkdirSync(join(root, '.local'), { recursive: true });
// Inside the checkout, so that the packages are found.
const folder = mkdtempSync(join(root, '.local/readme-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The programs that a README shows: blocks of TypeScript that import what they use. */
function programsOf(readme: string): string[] {
  const blocks = readFileSync(join(root, readme), 'utf8').matchAll(/^```ts\n(.*?)^```/gms);
  return [...blocks].map(([, code = '']) => code).filter((code) => code.startsWith('import '));
}

const readmes = [
  'README.md',
  'docs/your-own-service.md',
  ...globSync('framework/*/README.md', { cwd: root }),
].filter((readme) => programsOf(readme).length > 0);

test('the programs in all READMEs type-check', async () => {
  const files = readmes.flatMap((readme) =>
    programsOf(readme).map((code, index) => {
      const file = `${readme.replaceAll('/', '-')}-${index}.ts`;
      writeFileSync(join(folder, file), code);
      return file;
    }),
  );
  const tsconfig = { extends: join(root, 'tsconfig.json'), include: files };
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

  expect(files.length).toBeGreaterThan(3);
  expect(output).toBe('');
});

test('the program in the README serves what it says', async () => {
  const [program = ''] = programsOf('README.md');
  const file = join(folder, 'program.ts');
  writeFileSync(file, program.replace('listen(app, 3000)', 'listen(app, 0)'));
  const child = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const [line] = await once(createInterface(child.stdout), 'line');
    const origin = /http:\S+/.exec(line)?.[0];

    const found = await fetch(`${origin}/api/v1/users/7`);
    const missing = await fetch(`${origin}/api/v1/users/8`);

    expect(await found.json()).toEqual({ data: { id: '7', name: 'Ada' } });
    expect(missing.status).toBe(404);
    expect(await missing.json()).toMatchObject({ detail: 'User "8" not found', code: 'NOT_FOUND' });
  } finally {
    child.kill();
  }
});

test('the service of docs/your-own-service.md responds and reports its metrics', async () => {
  const [program = ''] = programsOf('docs/your-own-service.md');
  const file = join(folder, 'service.ts');
  writeFileSync(file, program);
  const env = { ...process.env, PORT: '0', HEALTH_PORT: '0', LOG_FORMAT: 'json' };
  const child = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'inherit'], env });
  try {
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
    const nextOrigin = async () => /http:[^"]+/.exec((await lines.next()).value ?? '')?.[0];
    const healthOrigin = await nextOrigin();
    const origin = await nextOrigin();

    const response = await fetch(`${origin}/api/v1/hello/ada`);
    const metrics = await fetch(`${healthOrigin}/metrics`);

    expect(await response.json()).toEqual({ hello: 'ada' });
    expect(await metrics.text()).toContain('http_requests_total');
  } finally {
    child.kill('SIGKILL');
  }
});
