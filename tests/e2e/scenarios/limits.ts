import assert from 'node:assert/strict';
import { waitFor } from '../../../deploy/local/cluster/cluster.ts';
import type { Target } from '../../contract/target.ts';
import { calm } from '../calm.ts';
import { installPlatform } from '../platform.ts';
import { podsOf, restartsOf, waitForPods } from '../rollouts.ts';
import type { Scenario, World } from '../scenario.ts';

const LIMIT = 100;

/** One count for all replicas of reports, whatever becomes of the server that keeps it. */
export const limits: Scenario = {
  name: 'limits',
  title:
    'exactly 100 of 300 requests of one user pass over three replicas; without Valkey it stays limited',
  seconds: 300,
  async run(world) {
    const { cluster, space, say } = world;
    const where = { cluster, namespace: space.name };
    const { target, base } = await installPlatform(world, { reports: { replicaCount: 3 } });
    // The first requests of a process take it many times as long, and a server that it waits for too
    // long is left out of the count: what is tried here is the count.
    await ask(target, { token: target.newToken(), times: LIMIT });
    await calm(world, base);

    say('sending 300 requests of one user at once');
    await passesExactly(target, LIMIT).catch(async (error) => {
      throw new Error(`${error.message}\n${await complaints(world)}`, { cause: error });
    });

    say('killing Valkey');
    const [before] = await podsOf(where, 'valkey');
    assert.ok(before);
    await scaleValkey(world, 0);
    const token = target.newToken();
    const statuses = await ask(target, { token, times: 4 * LIMIT });
    const away = tally(statuses);
    say(`without Valkey: ${tell(away)}`);
    assert.deepEqual(Object.keys(away).toSorted(), ['200', '429'], 'limited, and never an error');
    // Each replica then counts for itself.
    assert.ok((away[200] ?? 0) <= 3 * LIMIT, `${away[200]} of one user passed`);

    say('bringing Valkey back');
    await scaleValkey(world, 1);
    await waitForPods(where, { part: 'valkey', count: 1 });
    await waitFor({ cluster, what: 'one count for all replicas again', seconds: 30 }, async () => {
      await passesExactly(target, LIMIT);
      return true;
    });
    assert.equal(restartsOf(await podsOf(where, 'reports')), 0, 'reports was started anew');
  },
};

async function passesExactly(target: Target, expected: number): Promise<void> {
  const statuses = tally(await ask(target, { token: target.newToken(), times: 3 * LIMIT }));
  assert.deepEqual(statuses, { 200: expected, 429: 3 * LIMIT - expected });
}

/** What the replicas say of the server that they count in: without it, each counts for itself. */
async function complaints({ cluster, space }: World): Promise<string> {
  const log = await cluster.kubectl([
    ...['logs', '--selector=app.kubernetes.io/name=reports', '--namespace', space.name],
    ...['--tail=-1', '--prefix'],
  ]);
  return log
    .split('\n')
    .filter((line) => line.includes('rate limit store'))
    .join('\n');
}

interface AskOptions {
  readonly token: string;
  readonly times: number;
}

/** Asks for reports many times at once, and gives the statuses of the answers. */
async function ask({ api }: Target, { token, times }: AskOptions): Promise<number[]> {
  const authorization = `Bearer ${token}`;
  return Promise.all(
    Array.from({ length: times }, async () => {
      const response = await api.get('/api/v1/reports', { authorization });
      await response.arrayBuffer();
      return response.status;
    }),
  );
}

function tally(statuses: readonly number[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const status of statuses) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

function tell(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([status, count]) => `${count} × ${status}`)
    .join(', ');
}

async function scaleValkey({ cluster, space }: World, replicas: number): Promise<void> {
  await cluster.kubectl([
    ...['scale', 'deployment/fw-valkey', `--replicas=${replicas}`, '--namespace', space.name],
  ]);
  if (replicas > 0) return;
  await cluster.kubectl([
    ...['delete', 'pods', '--selector', 'app.kubernetes.io/name=valkey'],
    ...['--namespace', space.name, '--force', '--grace-period=0', '--request-timeout=0'],
  ]);
}
