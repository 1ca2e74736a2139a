import { readParts } from './cluster/platform.ts';
import { clusterOf, readCluster } from './cluster/record.ts';
import { isReady, isRunning } from './processes/process.ts';
import { folders, readRecords } from './state.ts';

async function show(): Promise<void> {
  const cluster = readCluster(folders.run);
  if (cluster) {
    const { namespace, cluster: name, backend, address } = cluster;
    const parts = await readParts(clusterOf(folders.run, AbortSignal.timeout(30_000)), cluster);
    console.log(`On ${backend}: namespace ${namespace} of ${name}, at ${address}`);
    for (const { name: part, ready, wanted } of parts) {
      console.log(`${part.padEnd(10)} ${ready} of ${wanted} ready`);
    }
  }
  const records = readRecords(folders.run);
  if (records.length === 0 && !cluster) console.log('Nothing is running (make up starts it)');
  for (const record of records) {
    const condition = !isRunning(record)
      ? 'ended'
      : (await isReady(record))
        ? 'ready'
        : 'not ready';
    console.log(
      `${record.name.padEnd(10)} ${condition.padEnd(9)} ${record.address} (process ${record.pid})`,
    );
  }
}

try {
  await show();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
