import { isReady, isRunning } from './process.ts';
import { folders, readRecords } from './state.ts';

const records = readRecords(folders.run);
if (records.length === 0) console.log('Nothing is running (make up starts it)');
for (const record of records) {
  const condition = !isRunning(record) ? 'ended' : (await isReady(record)) ? 'ready' : 'not ready';
  console.log(
    `${record.name.padEnd(10)} ${condition.padEnd(9)} ${record.address} (process ${record.pid})`,
  );
}
