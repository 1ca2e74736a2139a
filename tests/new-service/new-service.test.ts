import fs from 'node:fs';
import path from 'node:path';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { freePortsFrom } from '../../deploy/local/testing/ports.ts';
import { type Copy, copyForService } from './copy.ts';

/** `make test` runs all of them (FULL=1); these depend on the list of services. */
const TESTS = [
  ...['services/orders', 'services/services.test.ts', 'services/versions.test.ts'],
  ...['tests/repository/layers', 'deploy/new-service', 'deploy/k6'],
  ...['service', 'platform.', 'values', 'notes', 'alerts', 'helm-test'].map(
    (name) => `deploy/charts/tests/${name}`,
  ),
  'deploy/nginx',
  'deploy/local/cluster/kind.test.ts',
];

let copy: Copy;
let port: number;

beforeAll(async () => {
  copy = copyForService();
  // The edge, seven processes of services, and their health ports.
  const offsets = Array.from({ length: 10 }, (_, index) => index);
  port = await freePortsFrom([...offsets, ...offsets.map((offset) => offset + 1_000)]);
});

afterAll(async () => {
  try {
    await copy.run('make', 'down');
  } finally {
    copy.remove();
  }
});

const make = (...args: readonly string[]) => copy.run('make', '--no-print-directory', ...args);
const read = (file: string) => fs.readFileSync(path.join(copy.folder, file), 'utf8');

test('make service NAME=orders writes a service and names the next commands', async () => {
  const output = await make('service', 'NAME=orders');

  expect(output).toContain('Created services/orders/src/order.ts\n');
  expect(output).toContain('make up smoke load');
  expect(read('services/services.ts')).toContain("name: 'orders',");
  expect(read('deploy/charts/orders/values.yaml')).toContain('repository: fw-orders');
});

test('make service NAME=orders a second time is rejected in one line', async () => {
  await expect(make('service', 'NAME=orders')).rejects.toThrow(
    /:\nNAME is "orders": there is already a service or package of this name\nmake: /,
  );
});

test('make check accepts it', async () => {
  await make('check');
});

test('its tests, and those of the deployment, pass', async () => {
  if (process.env.FULL) await make('test');
  else await copy.run('npx', 'vitest', 'run', ...TESTS);
});

test('make up starts it, make smoke and make load pass', async () => {
  await make('up', `PORT=${port}`);
  const base = `BASE=http://localhost:${port}`;

  const smoke = await make('smoke', base);
  const load = await copy.run('env', 'DURATION=5s', 'LATENCY_FACTOR=10', 'make', 'load', base);

  expect(smoke).toContain('orders v2: an order is created');
  expect(load).toMatch(/http_req_duration\{name:GET \/api\/v2\/orders\}/);
});
