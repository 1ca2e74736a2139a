import { spawnSync } from 'node:child_process';
import path from 'node:path';

import { afterEach, expect, test, vi } from 'vitest';

import setup, { skippedConformanceFiles } from './skipped.ts';

const NOWHERE = path.join(import.meta.dirname, 'nowhere');

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

function runEnvironment(...args: readonly string[]) {
  const file = path.join(import.meta.dirname, 'environment.ts');
  const { status, stderr } = spawnSync(process.execPath, [file, ...args], {
    env: { PATH: NOWHERE },
    encoding: 'utf8',
  });
  return { status, stderr };
}

test('without Python the error says how to install it', () => {
  expect(runEnvironment()).toEqual({
    status: 1,
    stderr: expect.stringMatching(/^Python 3\.11 .* missing: .*apt-get install python3-venv.*\n$/),
  });
});

test('with --optional, a machine without Python is left as it is', () => {
  expect(runEnvironment('--optional')).toEqual({ status: 0, stderr: '' });
});

test('without Python the short run is skipped, and one line says so', () => {
  vi.stubEnv('CI', '');
  vi.stubEnv('PATH', NOWHERE);
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});

  const files = skippedConformanceFiles();
  setup()();

  expect(files).toEqual(['tests/conformance/conformance.test.ts']);
  expect(warn.mock.calls).toEqual([[expect.stringMatching(/^Skipped .* apt-get install/)]]);
});

test('in CI nothing is skipped', () => {
  vi.stubEnv('CI', 'true');
  vi.stubEnv('PATH', NOWHERE);

  expect(skippedConformanceFiles()).toEqual([]);
});
