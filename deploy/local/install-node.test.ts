import { execFileSync } from 'node:child_process';
import path from 'node:path';

import { expect, test } from 'vitest';

const ROOT = path.resolve(import.meta.dirname, '../..');
const TOOLCHAIN = path.join(ROOT, '.local/toolchain');

// Where the PATH has Node 26, make installs none.
test.runIf(process.execPath.startsWith(TOOLCHAIN))(
  'npm run and npx use the Node that make installed',
  () => {
    const folders = process.env.PATH?.split(path.delimiter) ?? [];
    const others = folders.filter((folder) => !folder.startsWith(ROOT));
    const env = { HOME: process.env.HOME, PATH: others.join(path.delimiter) }; // without the variables of npm

    // Both put the same folders on the PATH.
    const args = ['--no', '--', 'node', '--version'];
    const version = execFileSync('npx', args, { cwd: ROOT, env, encoding: 'utf8' });

    expect(version.trim()).toBe(process.version);
  },
);
