import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';

import { build } from 'esbuild';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { controllers } from './esbuild.ts';

const root = path.join(import.meta.dirname, 'fixtures/users');
const entry = path.join(root, 'main.ts');

let folder: string;
let running: ChildProcess[];

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'fw-controllers-'));
  running = [];
});

afterEach(async () => {
  await Promise.all(
    running.map(async (child) => {
      if (child.exitCode === null && child.signalCode === null && child.kill()) {
        await once(child, 'exit');
      }
    }),
  );
  await rm(folder, { recursive: true });
});

/** Runs a program in an empty folder; gives its address once it listens, or what it died of. */
async function run(...args: readonly string[]): Promise<{ url?: string; errors: string }> {
  const child = spawn(process.execPath, args, { cwd: folder });
  running.push(child);
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk;
  });
  for await (const line of createInterface(child.stdout)) {
    const [url] = /http:\/\/\S+/.exec(line) ?? [];
    if (url) return { url, errors };
  }
  await once(child, 'close').catch(() => {});
  return { errors };
}

async function expectToServe(url: string | undefined): Promise<void> {
  const created = await fetch(`${url}/api/users`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"name":"Ada","email":"ada@example.org"}',
  });
  expect(created.status).toBe(201);
  const found = await fetch(`${url}/api/users/1`);
  expect(await found.json()).toEqual({ data: { id: '1', name: 'Ada', email: 'ada@example.org' } });
}

/** The folder contains only the bundle. */
async function bundle(plugins: Parameters<typeof build>[0]['plugins']): Promise<string> {
  const outfile = path.join(folder, 'bundle.mjs');
  await build({
    absWorkingDir: path.dirname(root),
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'silent',
    ...(plugins && { plugins }),
  });
  return outfile;
}

describe('a bundle', () => {
  test('built with the plugin serves its controllers from an empty folder', async () => {
    const file = await bundle([controllers({ root: 'users' })]);

    const { url, errors } = await run(file);

    expect(errors).toBe('');
    expect(await readdir(folder)).toEqual(['bundle.mjs']);
    await expectToServe(url);
  });

  test('a bundle without the plugin reports that there is no controller', async () => {
    const file = await bundle([]);

    const { url, errors } = await run(file);

    expect(url).toBeUndefined();
    expect(errors).toContain('Cannot find a controller in root');
  });

  test('cannot be built from a root without controllers', async () => {
    const plugin = controllers({ root: path.join(import.meta.dirname, '../../errors/src') });

    await expect(bundle([plugin])).rejects.toThrow('Cannot find a controller in root');
  });
});

describe('Node without a bundle', () => {
  test('serves the controllers below root, compiled as they are loaded', async () => {
    const { url } = await run(entry);

    await expectToServe(url);
  });

  test('without esbuild, the error names what is missing', async () => {
    const hide = path.join(folder, 'hide-esbuild.mjs');
    await writeFile(
      hide,
      `import { registerHooks } from 'node:module';
      registerHooks({
        resolve(name, context, next) {
          if (name === 'esbuild') throw new Error('not installed');
          return next(name, context);
        },
      });`,
    );

    const { url, errors } = await run('--import', hide, entry);

    expect(url).toBeUndefined();
    expect(errors).toMatch(
      /Cannot load ".*user-controller\.ts": its decorators must be compiled: install esbuild/,
    );
  });
});
