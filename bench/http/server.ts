/*
 * The process of one contestant: `node server.ts <contestant> <workload>`. Its parent measures it.
 */
import { serveMeasured } from '../measured.ts';
import type { Contestant } from './contestant.ts';
import { WORKLOADS } from './workloads.ts';

const [name, workloadName] = process.argv.slice(2);
const workload = WORKLOADS.find((known) => known === workloadName);
if (!name || !workload) throw new Error('Usage: server.ts <contestant> <workload>');

await serveMeasured(async () => {
  const contestant: Contestant = await import(`./contestants/${name}.ts`);
  return contestant.start(workload);
});
