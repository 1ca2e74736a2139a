import { expect, test } from 'vitest';

import { readSettings } from './settings.ts';

test('a stream has at least 40,000 requests by default', () => {
  const { streamRate, streamSeconds } = readSettings({});

  expect(streamRate * streamSeconds).toBeGreaterThanOrEqual(40_000);
});

test('FULL=1 sends at least a million requests', () => {
  expect(readSettings({ FULL: '1' })).toMatchObject({ full: true, streamRequests: 1_000_000 });
  expect(readSettings({ FULL: '1', STREAM_REQUESTS: '5' })).toMatchObject({ streamRequests: 5 });
});

test.each([
  [{ KILL_NODE: 'power-off' }, 'KILL_NODE and START_NODE belong together'],
  [{ POSTGRES_IMAGE: 'postgres' }, 'POSTGRES_IMAGE is "postgres": expected an image and its tag'],
  [{ E2E_ALLOW_NODES: 'yes' }, 'E2E_ALLOW_NODES is "yes": expected 0 or 1'],
  [{ GATEWAY: 'public' }, 'GATEWAY is "public": expected a namespace and a name'],
  [{ CONTROLLER: 'gateways/' }, 'CONTROLLER is "gateways/": expected a namespace and a name'],
  [
    { CONTROLLER_ADDRESS: 'http://10.1.2.3:80' },
    'CONTROLLER_ADDRESS is "http://10.1.2.3:80": expected an address with a host name',
  ],
  [
    { CONTROLLER_ADDRESS: 'fw.test' },
    'CONTROLLER_ADDRESS is "fw.test": expected an address with a host name',
  ],
  [{ STREAM_RATE: '0' }, 'STREAM_RATE is "0": expected a positive whole number'],
  [{ STREAM_SECONDS: 'long' }, 'STREAM_SECONDS is "long": expected a positive whole number'],
])('%j is rejected: %s', (env, message) => {
  expect(() => readSettings(env)).toThrow(message);
});
