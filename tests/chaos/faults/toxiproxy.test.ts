import http from 'node:http';

import { expect, onTestFinished, test } from 'vitest';

import { listenAnywhere } from '../../../deploy/local/testing/ports.ts';
import { startToxiproxy } from './toxiproxy.ts';

/** A proxy in front of a server that responds with 200. */
async function startProxy() {
  const toxiproxy = await startToxiproxy();
  const server = http.createServer((_, response) => response.end());
  onTestFinished(async () => {
    server.close();
    await toxiproxy.stop();
  });
  const proxy = await toxiproxy.createProxy('test', await listenAnywhere(server));
  const send = async () => {
    const startMs = performance.now();
    const response = await fetch(`http://127.0.0.1:${proxy.port}`).catch(nameOf);
    const outcome = response instanceof Response ? response.status : response;
    return { outcome, ms: performance.now() - startMs };
  };
  return { proxy, send };
}

function nameOf({ cause }: Error): string {
  if (!(cause instanceof Error)) return String(cause);
  return 'code' in cause && cause.code ? String(cause.code) : cause.name;
}

test('a proxy refuses connections, sends garbage and delays responses until it heals', async () => {
  const { proxy, send } = await startProxy();
  const healthy = await send();

  await proxy.refuse();
  const refused = await send();
  await proxy.heal();
  await proxy.sendGarbage();
  const garbage = await send();
  await proxy.heal();
  await proxy.delay(300);
  const delayed = await send();
  await proxy.heal();
  await proxy.disconnect();
  const healed = await send();

  expect(healthy.outcome).toBe(200);
  expect(refused.outcome).toBe('ECONNREFUSED');
  expect(garbage.outcome).toMatch(/^(?:HPE_|HTTPParserError)/);
  expect(delayed.outcome).toBe(200);
  expect(delayed.ms).toBeGreaterThan(290);
  expect(healed.outcome).toBe(200);
});
