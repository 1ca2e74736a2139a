import { spawnSync } from 'node:child_process';
import path from 'node:path';

import { expect, test } from 'vitest';

const NOWHERE = path.join(import.meta.dirname, 'nowhere');

function runEnvironment(...args: readonly string[]) {
  const file = path.join(import.meta.dirname, 'environment.ts');
  const { status, stderr } = spawnSync(process.execPath, [file, ...args], {
    env: { PATH: NOWHERE },
    encoding: 'utf8',
  });
  return { status, stderr };
}

test('without Python the error describes how to install it', () => {
  expect(runEnvironment()).toEqual({
    status: 1,
    stderr: expect.stringMatching(/^Python 3\.11 .* missing: .*apt-get install python3-venv.*\n$/),
  });
});

test('with --optional, a machine without Python is not an error', () => {
  expect(runEnvironment('--optional')).toEqual({ status: 0, stderr: '' });
});
