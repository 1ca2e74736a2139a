/*
 * The process of one contestant: `node server.ts <contestant> <workload>`. It tells its parent the
 * port, and the processor time it has used whenever asked; it ends with its parent.
 */
import type { Contestant } from './contestant.ts';
import { WORKLOADS } from './workloads.ts';

const [name, workloadName] = process.argv.slice(2);
const workload = WORKLOADS.find((known) => known === workloadName);
if (!name || !workload || !process.send) {
  throw new Error('Usage: server.ts <contestant> <workload>, forked with a channel to its parent');
}
const send = process.send.bind(process);

process.on('disconnect', () => process.exit());
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  send({ cpuMicros: user + system });
});

const contestant: Contestant = await import(`./contestants/${name}.ts`);
send({ port: await contestant.start(workload) });
