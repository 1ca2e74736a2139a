import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

import { expect, test } from 'vitest';

const ROOT = path.resolve(import.meta.dirname, '../..');
const TOOLCHAIN = path.join(ROOT, '.local/toolchain');

// Where the PATH has Node 26, make installs none.
test.runIf(fs.existsSync(TOOLCHAIN))('npx and npm run use the Node that make installed', () => {
  const folders = process.env.PATH?.split(path.delimiter) ?? [];
  const others = folders.filter((folder) => !folder.startsWith(ROOT));
  const env = { HOME: process.env.HOME, PATH: others.join(path.delimiter) }; // without the variables of npm

  const version = execFileSync('npx', ['node', '--version'], { cwd: ROOT, env, encoding: 'utf8' });

  expect(version.trim()).toBe(process.version);
});
