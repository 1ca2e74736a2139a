import { requireRunningNode } from './cluster/kind.ts';
import { readParts } from './cluster/platform.ts';
import { clusterOf, readCluster } from './cluster/record.ts';
import { reasonOf } from './cluster/time-limit.ts';
import { ignoreClosedOutput } from './output.ts';
import { isReady, isRunning } from './processes/process.ts';
import { folders, readRecords } from './state.ts';

async function printStatus(): Promise<void> {
  const cluster = readCluster(folders.run);
  const records = readRecords(folders.run);
  if (records.length === 0 && !cluster) console.log('Nothing is running (make up starts it)');
  if (cluster) {
    const { namespace, cluster: name, backend, address } = cluster;
    await requireRunningNode(cluster);
    const parts = await readParts(
      clusterOf(folders.run, AbortSignal.timeout(30_000)),
      cluster,
    ).catch((cause: unknown) => {
      throw new Error(`Cannot reach the cluster ${name}: ${reasonOf(cause)}`, { cause });
    });
    console.log(`On ${backend}: namespace ${namespace} of ${name}, at ${address}`);
    for (const { name: part, ready, wanted } of parts) {
      console.log(`${part.padEnd(10)} ${ready} of ${wanted} ready`);
    }
  }
  for (const record of records) {
    const { name, address, pid } = record;
    const running = (await isReady(record)) ? 'ready' : 'not ready';
    const state = isRunning(record) ? running : 'ended';
    console.log(`${name.padEnd(10)} ${state.padEnd(9)} ${address} (process ${pid})`);
  }
}

ignoreClosedOutput();
try {
  await printStatus();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
