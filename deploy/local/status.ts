import { clusterOf, PLACE } from './cluster/install.ts';
import { readKind, requireRunningNode } from './cluster/kind.ts';
import { reasonOf } from './cluster/program.ts';
import { ignoreClosedOutput } from './output.ts';
import { isReady, isRunning } from './processes/process.ts';
import { folders, readRecords } from './state.ts';

async function printStatus(): Promise<void> {
  const kind = readKind(folders.run);
  const records = readRecords(folders.run);
  if (records.length === 0 && !kind) console.log('Nothing is running (make up starts it)');
  if (kind) {
    await requireRunningNode(kind);
    const { namespace } = PLACE;
    const { kubectl } = clusterOf(folders.run, AbortSignal.timeout(30_000));
    const pods = await kubectl(['get', 'pods', '--namespace', namespace]).catch((cause) => {
      throw new Error(`Cannot reach the cluster ${kind.name}: ${reasonOf(cause)}`, { cause });
    });
    console.log(`On kind: namespace ${namespace} of ${kind.name}, at ${kind.address}\n${pods}`);
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
