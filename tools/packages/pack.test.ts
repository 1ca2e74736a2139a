import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { newFolder } from '@fw/service/testing/vitest';
import { afterAll, expect, test } from 'vitest';

import { listPackages } from './pack.ts';

const root = path.resolve(import.meta.dirname, '../..');
const folder = newFolder('fw-pack-', afterAll);

const first = packedBy(root, 'first', {});
const tarballs = fs.readdirSync(first);

/** Packs the checkout at `from` in a process of its own. */
function packedBy(from: string, name: string, env: NodeJS.ProcessEnv, umask = '022'): string {
  const target = path.join(folder, name);
  const command = `umask ${umask}; exec "$0" tools/packages/pack.ts "$1"`;
  execFileSync('sh', ['-c', command, process.execPath, target], {
    cwd: from,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return target;
}

/** A copy of the checkout with other times and permissions; only the dependencies are shared. */
function copyCheckout(): string {
  const copy = path.join(folder, 'another-name');
  for (const name of ['framework', 'tools/packages', 'package.json', 'tsconfig.json', 'LICENSE']) {
    fs.cpSync(path.join(root, name), path.join(copy, name), { recursive: true });
  }
  fs.symlinkSync(path.join(root, 'node_modules'), path.join(copy, 'node_modules'));
  for (const file of fs.globSync('framework/**/*.*', { cwd: copy })) {
    fs.utimesSync(path.join(copy, file), 1_000_000_000, 1_000_000_000);
    fs.chmodSync(path.join(copy, file), 0o700);
  }
  return copy;
}

test('packing a copy in another folder, time zone and umask gives the same bytes', () => {
  const second = packedBy(copyCheckout(), 'second', { TZ: 'Asia/Tokyo', LC_ALL: 'C' }, '077');

  expect(fs.readdirSync(second)).toEqual(tarballs);
  for (const name of tarballs) {
    const [one, other] = [first, second].map((each) => fs.readFileSync(path.join(each, name)));
    expect(one?.equals(other ?? Buffer.alloc(0)), name).toBe(true);
  }
});

test('every public package of the framework is packed', () => {
  const names = listPackages().map(({ manifest: { name } }) => name.replace('@fw/', 'fw-'));

  expect(tarballs).toEqual(names.map((name) => `${name}-0.1.0.tgz`).sort());
});

test.each(tarballs)(
  '%s has less than 200 kB, no tests, and a source for every declaration',
  (name) => {
    const file = path.join(first, name);
    const files = execFileSync('tar', ['-tzf', file], { encoding: 'utf8' }).trim().split('\n');
    const maps = files.filter((one) => one.endsWith('.d.ts.map'));
    const contents = execFileSync('tar', ['-xzOf', file, ...maps], { encoding: 'utf8' });
    const sources = contents.matchAll(/"sources":\["([^"]+)"\]/g);
    const paths = [...sources].map(([, source = ''], at) =>
      path.join(maps[at] ?? '', '..', source),
    );

    expect(fs.statSync(file).size).toBeLessThan(200_000);
    expect(files).toEqual(expect.arrayContaining(['package/README.md', 'package/LICENSE']));
    expect(files.filter((one) => /^package\/(?:src|dist)\/.*\.test\./.test(one))).toEqual([]);
    expect(paths).toHaveLength(maps.length);
    expect(paths.filter((one) => !files.includes(one))).toEqual([]);
  },
);
