import { expect, test } from 'vitest';

import { runScenarios } from './run.ts';
import type { Scenario } from './scenario.ts';
import { readSettings } from './settings.ts';

/** A scenario that the cluster lacks something for. */
const without: Scenario = {
  name: 'node',
  title: 'a node may go',
  seconds: 10,
  lacks: async () => 'the cluster has no second node',
  run: () => Promise.reject(new Error('was run')),
};

async function tell(until: AbortSignal): Promise<string[]> {
  const lines: string[] = [];
  const settings = readSettings({});
  const say = (line: string) => lines.push(line);
  const { passed, failed } = await runScenarios([without], { settings, charts: '', until, say });
  return [...lines, `${passed} passed, ${failed} failed`];
}

test('a scenario that cannot be tried has failed, and tells why', async () => {
  expect(await tell(never())).toEqual([
    '---- node: a node may go',
    expect.stringMatching(/^FAIL node \(0 s, beginning\)\n {5}the cluster has no second node$/),
    '0 passed, 1 failed',
  ]);
});

test('nothing is begun any more after an interruption', async () => {
  expect(await tell(AbortSignal.abort())).toEqual(['0 passed, 1 failed']);
});

function never(): AbortSignal {
  return new AbortController().signal;
}
