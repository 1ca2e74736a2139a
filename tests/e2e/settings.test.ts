import { expect, test } from 'vitest';

import { readSettings } from './settings.ts';

test('a stream has at least 40,000 requests by default', () => {
  const { streamRate, streamSeconds } = readSettings({});

  expect(streamRate * streamSeconds).toBeGreaterThanOrEqual(40_000);
});

test.each([
  [{ KILL_NODE: 'power-off' }, 'KILL_NODE and START_NODE belong together'],
  [{ POSTGRES_IMAGE: 'postgres' }, 'POSTGRES_IMAGE is "postgres": expected an image and its tag'],
  [{ E2E_ALLOW_NODES: 'yes' }, 'E2E_ALLOW_NODES is "yes": expected 0 or 1'],
  [{ STREAM_RATE: '0' }, 'STREAM_RATE is "0": expected a positive whole number'],
  [{ STREAM_SECONDS: 'long' }, 'STREAM_SECONDS is "long": expected a positive whole number'],
])('%j is rejected: %s', (env, message) => {
  expect(() => readSettings(env)).toThrow(message);
});
