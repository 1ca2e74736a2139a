/*
 * The process of one contestant: `node server.ts <contestant> <workload>`. Sends its parent the port and,
 * for each message, the microseconds of CPU time used so far.
 */
import { serveParent } from '../measured.ts';
import { loadContestant } from './contestant.ts';
import { WORKLOADS } from './workloads.ts';

const [name, workloadName] = process.argv.slice(2);
const workload = WORKLOADS.find((known) => known === workloadName);
if (!name || !workload) throw new Error('Usage: server.ts <contestant> <workload>');

const { start } = await loadContestant(name);
serveParent(await start(workload), () => {
  const { user, system } = process.cpuUsage();
  return user + system;
});
