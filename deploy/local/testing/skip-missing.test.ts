import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { folders } from '../state.ts';

/** Three tests that need kube-score, in each way in which a test may fail without it, and one other. */
const TESTS = `
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ensureTool } from '${path.join(folders.root, 'deploy/local/tools.ts')}';

test('in a test', () => expect(() => ensureTool('kube-score')).toThrow('another message'));
test('does not need it', () => {});
describe('a group', () => {
  let program;
  beforeAll(() => { program = ensureTool('kube-score'); });
  afterAll(() => program.length);
  test('with a hook', () => {});
  test('with the same hook', () => {});
});
`;

function runVitest(variables: NodeJS.ProcessEnv) {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'skip-missing-'));
  onTestFinished(() => fs.rmSync(root, { recursive: true }));
  fs.symlinkSync(path.join(folders.root, 'node_modules'), path.join(root, 'node_modules'));
  fs.writeFileSync(path.join(root, 'one.test.ts'), TESTS);
  const vitest = path.join(folders.root, 'node_modules/vitest/vitest.mjs');
  const config = path.join(folders.root, 'vitest.config.ts');
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [vitest, 'run', '--root', root, '--config', config, '--reporter=default'],
    {
      env: { PATH: '/nonexistent', HOME: root, XDG_CACHE_HOME: root, NO_COLOR: '1', ...variables },
      encoding: 'utf8',
    },
  );
  return { status, output: stdout + stderr };
}

test('tests whose program is missing are skipped, and the last line counts them and names the reason', () => {
  const { status, output } = runVitest({});

  expect(output).toMatch(/Tests +1 passed \| 3 skipped \(4\)/);
  expect(output.trimEnd().split('\n').at(-1)).toBe(
    'Skipped 3 tests without kube-score: kube-score is missing: "make test" installs it',
  );
  expect(status).toBe(0);
});

test('in CI, a missing program is a failure', () => {
  const { status, output } = runVitest({ CI: 'true' });

  expect(output).toContain('kube-score is missing');
  expect(output).not.toContain('Skipped');
  expect(status).toBe(1);
});
