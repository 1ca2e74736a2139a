import assert from 'node:assert/strict';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { turnEdge } from '../../deploy/local/processes/edge.ts';
import { isReady, stopProcess } from '../../deploy/local/processes/process.ts';
import { replicasOf, upstreamsOf } from '../../deploy/local/processes/system.ts';
import { type Folders, readRunning } from '../../deploy/local/state.ts';
import type { Api } from '../contract/api.ts';

/** Takes a replica of users away and brings it back by `up`, while users are read and created. */
export async function replaceUnderTraffic(
  { api, folders }: { readonly api: Api; readonly folders: Folders },
  up: () => Promise<void>,
): Promise<void> {
  const running = readRunning(folders.run);
  const replica = running.find(({ name }) => name === 'users-1');
  const edge = running.find(({ name }) => name === 'edge');
  assert.ok(replica && edge, 'users-1 and the edge run');
  const prefix = path.join(folders.run, 'nginx');
  const upstreams = upstreamsOf(replicasOf(Number(new URL(api.origin).port)));
  const traffic = startTraffic(api);
  try {
    await sleep(300);
    await turnEdge(edge, { prefix, upstreams, away: Number(new URL(replica.address).port) });
    assert.ok(await stopProcess(replica), 'users-1 ended by itself within 10 s');
    await up();
    const again = readRunning(folders.run).find(({ name }) => name === replica.name);
    assert.ok(again && (await isReady(again)), 'users-1 is back');
    await sleep(300);
  } finally {
    const { answered, lost, created } = await traffic.stop();
    for (const id of created) await api.send('DELETE', `/api/v1/users/${id}`);
    assert.deepEqual(lost, [], `${lost.length} of ${answered + lost.length} requests were lost`);
    assert.ok(answered > 20, `only ${answered} requests were answered`);
  }
}

/** Reads and creates users over and over, on several connections at a time. */
function startTraffic(api: Api) {
  const created: string[] = [];
  const lost: string[] = [];
  let answered = 0;
  let stopping = false;

  async function repeat(request: () => Promise<Response>, expected: number): Promise<void> {
    while (!stopping) {
      try {
        const response = await request();
        const text = await response.text();
        if (response.status !== expected) throw new Error(`answered ${response.status}: ${text}`);
        if (expected === 201) created.push(JSON.parse(text).data.id);
        answered += 1;
      } catch (error) {
        lost.push(error instanceof Error ? error.message : String(error));
      }
    }
  }

  // Each on a connection of its own: nginx closes idle ones whenever its configuration changes.
  const alone = { connection: 'close' };
  const user = { name: 'Smoke', email: 'smoke@example.org' };
  const read = () => api.get('/api/v1/users?page=1&limit=1', alone);
  const create = () => api.send('POST', '/api/v1/users', user, alone);
  const workers = [
    ...Array.from({ length: 4 }, () => repeat(read, 200)),
    ...Array.from({ length: 2 }, () => repeat(create, 201)),
  ];
  return {
    async stop() {
      stopping = true;
      await Promise.all(workers);
      return { answered, lost, created };
    },
  };
}
