import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from '../../../deploy/local/cluster/cluster.ts';
import { merge, type Values } from '../../../deploy/local/cluster/values.ts';
import { calm } from '../calm.ts';
import { drain, lacksSpareNode, uncordon } from '../nodes.ts';
import { installPlatform, keptOn, lacksSecondNode, type Platform, pickNodes } from '../platform.ts';
import { podsOf, SERVICES, waitForPods } from '../rollouts.ts';
import type { Scenario, World } from '../scenario.ts';
import { LONGEST_SECONDS, type Stream, startStream } from '../stream.ts';

/** How often in a row nothing may be lost. */
const TIMES = 2;

/** A stream of requests while everything changes that changes in a platform's life. */
export const rollout: Scenario = {
  name: 'rollout',
  title:
    'nothing is lost over an upgrade, a rollback, more and fewer pods, a deleted pod and a drained node',
  seconds: 120 + TIMES * (LONGEST_SECONDS + 60),
  lacks: lacksSpareNode,
  async run(world) {
    // A line for each request is more work for the nodes than the request.
    const platform = await installOverNodes(world, ofAll({ config: { LOG_LEVEL: 'warn' } }));
    for (let time = 1; time <= TIMES; time += 1) {
      const stream = await streamDuring(world, { platform, changes: everyChange });
      const { requests } = await stream.end().catch(async (error) => {
        throw new Error(`${error.message}\n${await refusals(world)}`, { cause: error });
      });
      world.say(`time ${time} of ${TIMES}: nothing of ${requests} requests was lost`);
      const { streamRate, streamSeconds } = world.settings;
      const least = Math.floor(0.95 * streamRate * streamSeconds);
      assert.ok(requests >= least, `only ${requests} requests were sent, expected ${least}`);
    }
  },
};

/** What the edge says of the requests that it could not have answered. */
async function refusals({ cluster, space }: World): Promise<string> {
  const log = await cluster.kubectl([
    ...['logs', '--selector=app.kubernetes.io/name=edge', '--namespace', space.name],
    ...['--tail=-1', '--prefix'],
  ]);
  const lines = log.split('\n').filter((line) => /"status":50\d|\[error\]/.test(line));
  return lines.slice(0, 10).join('\n');
}

/** How often it is tried, where by chance nothing is lost. */
const UNLUCKY_TIMES = 3;

/** What the drain is for: without it, the same stream loses requests. */
export const withoutDrain: Scenario = {
  name: 'rollout-without-drain',
  title: 'the same stream loses requests when the drain is switched off',
  seconds: 120 + UNLUCKY_TIMES * 120,
  lacks: lacksSecondNode,
  async run(world) {
    const platform = await installOverNodes(world);
    world.say('switching the drain off');
    for (const name of SERVICES) await switchDrainOff(world, name);
    for (let time = 1; time <= UNLUCKY_TIMES; time += 1) {
      const stream = await streamDuring(world, { platform, changes: restarts, seconds: 30 });
      const { outcome } = await stream.stop();
      world.say(`${outcome.requests} requests, ${outcome.failed} failed`);
      if (outcome.failed > 0) return;
    }
    assert.fail('no request was lost: the test would not see a missing drain');
  },
};

/** Has Node end at the moment that it is told to, as it does where nobody has thought of a drain. */
const AT_ONCE = "--import=data:text/javascript,process.once('SIGTERM',()=>process.exit())";

/** Takes the drain from the pods of a service, and the time before it, which no value of the chart does. */
async function switchDrainOff({ cluster, space }: World, name: string): Promise<void> {
  const env = [{ name: 'NODE_OPTIONS', value: AT_ONCE }];
  const patch = { spec: { template: { spec: { containers: [{ name, env, lifecycle: null }] } } } };
  const deployment = [`deployment/fw-${name}`, '--namespace', space.name];
  await cluster.kubectl(['patch', ...deployment, '--patch', JSON.stringify(patch)]);
  await rolledOut(cluster, deployment);
  await waitForPods({ cluster, namespace: space.name }, { part: name, count: 2 });
}

/** Waits until a deployment, as kubectl is told of it, has rolled its pods. */
async function rolledOut(cluster: Cluster, deployment: readonly string[]): Promise<void> {
  const status = ['rollout', 'status', ...deployment, '--timeout=120s', '--request-timeout=0'];
  await cluster.kubectl(status);
}

/** Installs the platform with all that is there but once on the node that stays. */
async function installOverNodes(world: World, values: Values = {}): Promise<Platform> {
  const nodes = await pickNodes(world.cluster);
  assert.ok(nodes);
  return installPlatform(world, merge(keptOn(nodes.stays), values));
}

type Changes = (world: World, platform: Platform) => Promise<void>;

interface StreamOptions {
  readonly platform: Platform;
  readonly changes: Changes;
  /** How long it goes on at least. Default: that of the settings. */
  readonly seconds?: number;
}

/** Sends requests without a pause from before the changes until after them. */
async function streamDuring(
  world: World,
  { platform, changes, seconds = world.settings.streamSeconds }: StreamOptions,
): Promise<Stream> {
  const { cluster, settings, say } = world;
  const { signal } = cluster;
  say(`sending ${settings.streamRate} requests a second`);
  const stream = startStream(world, platform);
  try {
    const start = Date.now();
    await sleep(3_000, undefined, { signal });
    await changes(world, platform);
    await sleep(Math.max(0, start + seconds * 1000 - Date.now()), undefined, { signal });
  } catch (error) {
    await stream.stop().catch(() => {});
    throw error;
  }
  return stream;
}

/** One change after another, each waited for to its end, and until requests are answered as before. */
async function everyChange(world: World, { release, values, base }: Platform): Promise<void> {
  const { cluster, space, say } = world;
  const where = { cluster, namespace: space.name };
  const { goes } = (await pickNodes(cluster)) ?? {};
  assert.ok(goes);
  const node = goes.metadata.name;
  // One service after another: the start of so many pods at once is a test of the nodes.
  let changed = values;
  const upgradeTo = async (over: Values) => {
    changed = merge(changed, over);
    await release.upgrade(changed);
    await calm(world, base);
  };

  const first = await release.revision();
  for (const name of SERVICES) {
    say(`upgrading ${name} to another configuration`);
    await upgradeTo({ [name]: { config: { LOG_LEVEL: 'error' } } });
  }
  for (const [at, name] of SERVICES.toReversed().entries()) {
    say(`rolling ${name} back`);
    await release.rollback(first + SERVICES.length - 1 - at);
    await calm(world, base);
  }
  changed = values;
  for (const name of SERVICES) {
    say(`scaling ${name} from 2 to 4`);
    await upgradeTo({ [name]: { replicaCount: 4 } });
  }
  say('scaling all back to 2');
  await upgradeTo(ofAll({ replicaCount: 2 }));
  await deletions(world, base);
  say(`draining ${node}`);
  world.afterwards((of) => uncordon(of, node));
  await drain(world, node);
  await uncordon(cluster, node);
  for (const part of SERVICES) await waitForPods(where, { part, count: 2 });
}

function ofAll(values: Values): Values {
  return Object.fromEntries(SERVICES.map((name) => [name, values]));
}

/** Rolls every service once, and then deletes a pod of each. */
async function restarts(world: World, { base }: Platform): Promise<void> {
  const { cluster, space, say } = world;
  const where = ['--namespace', space.name];
  const deployments = SERVICES.map((name) => `deployment/fw-${name}`);
  say('restarting every pod');
  await cluster.kubectl(['rollout', 'restart', ...deployments, ...where]);
  for (const deployment of deployments) await rolledOut(cluster, [deployment, ...where]);
  await deletions(world, base);
}

/** Deletes a pod of each service, and waits for the one in its place. */
async function deletions(world: World, base: string): Promise<void> {
  const { cluster, space, say } = world;
  const where = { cluster, namespace: space.name };
  for (const part of SERVICES) {
    const [pod] = await podsOf(where, part);
    assert.ok(pod);
    say(`deleting ${pod.metadata.name}`);
    await cluster.kubectl([
      'delete',
      'pod',
      pod.metadata.name,
      '--namespace',
      space.name,
      '--request-timeout=0',
    ]);
    await waitForPods(where, { part, count: 2 });
    await calm(world, base);
  }
}
