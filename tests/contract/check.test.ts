import assert from 'node:assert/strict';

import { expect, onTestFinished, test, vi } from 'vitest';

import { check, runChecks } from './check.ts';

test('every check is run, one after another, and each that fails says why', async () => {
  const lines: string[] = [];
  const log = vi.spyOn(console, 'log').mockImplementation((line) => void lines.push(line));
  onTestFinished(() => log.mockRestore());

  const failed = await runChecks<number>(
    [
      check('seven is asked', async (target) => assert.equal(target, 7)),
      check('eight is asked', async (target) => assert.ok(target === 8, 'it was seven')),
      check('seven is asked again', async (target) => assert.equal(target, 7)),
    ],
    7,
  );

  expect(failed).toBe(1);
  expect(lines).toEqual([
    'ok   seven is asked',
    'FAIL eight is asked\n     it was seven',
    'ok   seven is asked again',
    '2 passed, 1 failed',
  ]);
});
