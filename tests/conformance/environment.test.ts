import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

const NOWHERE = path.join(import.meta.dirname, 'nowhere');

function runEnvironment(...args: readonly string[]) {
  const file = path.join(import.meta.dirname, 'environment.ts');
  const cache = fs.mkdtempSync(path.join(os.tmpdir(), 'environment-'));
  onTestFinished(() => fs.rmSync(cache, { recursive: true }));
  const { status, stderr } = spawnSync(process.execPath, [file, ...args], {
    env: { PATH: NOWHERE, XDG_CACHE_HOME: cache },
    encoding: 'utf8',
  });
  return { status, stderr };
}

const MISSING = /^Python 3\.11 .* missing: .*apt-get install python3-venv.*\n$/;

test('without Python the error describes how to install it', () => {
  expect(runEnvironment()).toEqual({
    status: 1,
    stderr: expect.stringMatching(MISSING),
  });
});

test('with --optional, a machine without Python is not an error', () => {
  expect(runEnvironment('--optional')).toEqual({
    status: 0,
    stderr: expect.stringMatching(MISSING),
  });
});
