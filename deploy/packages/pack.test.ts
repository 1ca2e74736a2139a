import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { afterAll, describe, expect, test } from 'vitest';

import { listPackages } from './manifest.ts';

const root = path.resolve(import.meta.dirname, '../..');
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fw-pack-'));
afterAll(() => fs.rmSync(folder, { recursive: true }));

const first = packedBy(root, 'first', {});
const tarballs = fs.readdirSync(first).sort();

/** Packs the checkout at `from` in a process of its own. */
function packedBy(from: string, name: string, env: NodeJS.ProcessEnv, umask = '022'): string {
  const target = path.join(folder, name);
  const command = `umask ${umask}; exec "$0" deploy/packages/pack.ts "$1"`;
  execFileSync('sh', ['-c', command, process.execPath, target], {
    cwd: from,
    env: { ...process.env, NODE_NO_WARNINGS: '1', ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return target;
}

/** A copy of the checkout with other times; only the dependencies are shared. */
function copyCheckout(): string {
  const copy = path.join(folder, 'another-name');
  for (const name of ['framework', 'deploy/packages', 'package.json', 'tsconfig.json', 'LICENSE']) {
    fs.cpSync(path.join(root, name), path.join(copy, name), { recursive: true });
  }
  fs.symlinkSync(path.join(root, 'node_modules'), path.join(copy, 'node_modules'));
  for (const file of fs.globSync('framework/**/*', { cwd: copy })) {
    fs.utimesSync(path.join(copy, file), 1_000_000_000, 1_000_000_000);
  }
  return copy;
}

test('packing a copy in another folder, time zone and umask gives the same bytes', () => {
  const second = packedBy(copyCheckout(), 'second', { TZ: 'Asia/Tokyo', LC_ALL: 'C' }, '077');

  expect(fs.readdirSync(second).sort()).toEqual(tarballs);
  for (const name of tarballs) {
    const [one, other] = [first, second].map((each) => fs.readFileSync(path.join(each, name)));
    expect(one?.equals(other ?? Buffer.alloc(0)), name).toBe(true);
  }
});

test('every public package of the framework is packed', () => {
  const expected = listPackages(root).map(
    ({ manifest: { name, version } }) => `${name.replace('@fw/', 'fw-')}-${version}.tgz`,
  );

  expect(tarballs).toEqual(expected.sort());
  expect(tarballs).not.toContainEqual(expect.stringContaining('examples'));
});

describe.each(tarballs)('%s', (name) => {
  const file = path.join(first, name);
  const contents = path.join(folder, 'contents', name);
  fs.mkdirSync(contents, { recursive: true });
  execFileSync('tar', ['-xzf', file, '-C', contents, '--strip-components=1']);
  const files = fs.globSync('**/*.*', { cwd: contents });
  const read = (one: string) => fs.readFileSync(path.join(contents, one), 'utf8');
  const manifest = JSON.parse(read('package.json'));

  test('has less than 150 kB, a README and a licence', () => {
    expect(fs.statSync(file).size).toBeLessThan(150_000);
    expect(files).toContain('README.md');
    expect(fs.existsSync(path.join(contents, 'LICENSE'))).toBe(true);
  });

  test('has a README without links to files', () => {
    expect(read('README.md')).not.toMatch(/\]\((?!https?:|#)/);
  });

  test('contains the files of its entries, and no tests', () => {
    const entries = Object.values<{ types: string; default: string }>(manifest.exports);
    const targets = [
      ...entries.flatMap((entry) => (typeof entry === 'string' ? [] : Object.values(entry))),
      ...Object.values<string>(manifest.bin ?? {}),
    ];

    expect(targets.length).toBeGreaterThan(0);
    expect(targets.filter((one) => !files.includes(path.normalize(one)))).toEqual([]);
    expect(files.filter((one) => /^(?:src|dist)\/.*\.test\./.test(one))).toEqual([]);
  });

  test('has maps from its JavaScript and its declarations to its sources', () => {
    const outputs = files.filter((one) => /^dist\/.*\.(?:js|d\.ts)$/.test(one));
    const missing = outputs.filter((one) => {
      const [source = ''] = JSON.parse(read(`${one}.map`)).sources;
      return !files.includes(path.join(one, '..', source));
    });

    expect(outputs.length).toBeGreaterThan(0);
    expect(missing).toEqual([]);
  });

  test('imports only files that it contains and packages that it names', () => {
    const names = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies });
    const wrong = files
      .filter((one) => /\.(?:js|d\.ts)$/.test(one))
      .flatMap((one) => importsOf(read(one)).map((imported) => ({ one, imported })))
      .filter(({ one, imported }) =>
        imported.startsWith('.')
          ? !files.includes(targetOf(one, imported))
          : !/^node:/.test(imported) && !names.includes(packageOf(imported)),
      );

    expect(wrong).toEqual([]);
  });
});

/** The file that a relative import in `file` loads: a declaration imports a declaration. */
function targetOf(file: string, imported: string): string {
  const target = path.join(file, '..', imported);
  return file.endsWith('.d.ts') ? target.replace(/\.js$/, '.d.ts') : target;
}

/** The specifiers of the import and export statements of a module. */
function importsOf(code: string): string[] {
  const found = code.matchAll(/^(?:import\s+|(?:import|export)[^'"]*?\bfrom\s+)['"]([^'"]+)['"]/gm);
  return [...found].map(([, specifier = '']) => specifier);
}

function packageOf(specifier: string): string {
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
}
