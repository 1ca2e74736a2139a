import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

import { expect, onTestFinished, test } from 'vitest';

const root = resolve(import.meta.dirname, '../../../..');

/** Runs a program that calls `runService` with `definition`, whose lines are lines 5 and later, without `NODE_ENV`. */
function run(definition: string) {
  mkdirSync(join(root, '.local'), { recursive: true });
  // Inside the checkout, so that the packages are found.
  const folder = mkdtempSync(join(root, '.local/service-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'main.ts');
  const head = [
    "import { createServiceApp, runService, serviceVariables } from '@fw/service';",
    "import { listFiles } from './files.ts';",
    "const base = { name: 'a', summary: 'b', variables: serviceVariables({ port: 0 }) };",
    'const logger = { info() {}, warn() {}, error() {} };',
  ];
  writeFileSync(file, `${head.join('\n')}\n${definition}`);
  writeFileSync(
    join(folder, 'files.ts'),
    "import fs from 'node:fs/promises';\nexport const listFiles = () => fs.readdir('/missing');\n",
  );
  const { PATH } = process.env;
  const env = { PATH, PORT: '0', HEALTH_PORT: '0' };
  const { status, stderr } = spawnSync(process.execPath, [file], {
    encoding: 'utf8',
    env,
    timeout: 30_000,
  });
  return { status, stderr: stderr.replaceAll(pathToFileURL(folder).href, '') };
}

test.each([
  [
    'a TypeError in start',
    'await runService({ ...base, start: () => (undefined as any).app });',
    "Cannot run a: Cannot read properties of undefined (reading 'app'), at start (/main.ts:5:61)",
  ],
  [
    'a rejection of Node',
    'await runService({ ...base, start: async () => ({ app: await listFiles() }) as never });',
    "Cannot run a: ENOENT: no such file or directory, scandir '/missing', at async start (/main.ts:5:56)",
  ],
  [
    'a plugin',
    `const plugin = async () => { await null; throw new Error('no plugin'); };
const start = () => ({ app: createServiceApp({ logger }).plugin(plugin) });
await runService({ ...base, start });`,
    'Cannot run a: no plugin, at plugin (/main.ts:5:48)',
  ],
  [
    'a command with the name of one that every service has',
    'const commands = { serve: {} };\nawait runService({ ...base, start: () => ({}), commands } as never);',
    'Cannot run a: Cannot read option commands "{ serve: {} }" of runService(): expected an object without serve, config, migrate, help, which every service has, at /main.ts:6:7',
  ],
  [
    'a missing member of the definition',
    'const { name, ...rest } = base;\nawait runService({ ...rest, start: () => ({}) } as never);',
    'Cannot run the service: runService() needs the option name: a string, at /main.ts:6:7',
  ],
  [
    'start() without an application',
    'await runService({ ...base, start: () => ({}) as never });',
    'Cannot run a: the result of start() needs the option app: the application, which createServiceApp(runtime) returns, at async /main.ts:5:1',
  ],
  [
    'an unknown member of the result of start()',
    `const start = () => ({ app: createServiceApp({ logger }), closed() {} });
await runService({ ...base, start });`,
    'Cannot run a: the result of start() has no option "closed"; did you mean "close"? Its options: app, checks, tls, close, at async /main.ts:6:1',
  ],
])('%s is one line with the place in the code of the service', (_, definition, expected) => {
  const { status, stderr } = run(definition);

  expect(status).toBe(1);
  expect(stderr).toMatch(/^[^\n]+\n$/);
  expect(stderr.trimEnd()).toBe(expected);
});

test('Node 20 is one line that names the required version', () => {
  const { status, stderr } = run(
    `Object.defineProperty(process, 'versions', { value: { node: '20.19.0' } });
await runService({ ...base, start: () => ({ app: createServiceApp({ logger }) }) });`,
  );

  expect(status).toBe(1);
  expect(stderr).toBe('Cannot run a: expected Node 24 or later, got 20.19.0\n');
});
