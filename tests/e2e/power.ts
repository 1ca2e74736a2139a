import { runProgram } from '../../deploy/local/cluster/program.ts';
import { waitForNode } from './nodes.ts';
import type { World } from './scenario.ts';

/** Cuts the power of a node; the clean-up starts it again. */
export async function killNode(world: World, node: string): Promise<void> {
  const { settings, onCleanUp } = world;
  onCleanUp((cluster) => startNode({ ...world, cluster }, node));
  await runForNode(world, settings.killNode, node);
}

/** Starts a node, and waits until it accepts pods. */
export async function startNode(world: World, node: string): Promise<void> {
  await runForNode(world, world.settings.startNode, node);
  await waitForNode(world.cluster, node);
}

async function runForNode({ cluster }: World, command = '', node: string): Promise<void> {
  await runProgram('bash', ['-c', `${command} "$1"`, 'bash', node], { signal: cluster.signal });
}
