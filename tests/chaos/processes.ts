import path from 'node:path';

import {
  isRunning,
  type ProcessPlan,
  type ProcessRecord,
  startProcess,
  stopProcess,
  waitUntilReady,
} from '../../deploy/local/processes/process.ts';

/** Processes that are disturbed together. */
export interface Processes {
  /** Sends SIGKILL. */
  kill(): Promise<void>;
  /** Starts the killed processes; resolves when they are ready. */
  restart(): Promise<void>;
  /** Sends SIGSTOP. */
  pause(): Promise<void>;
  /** Sends SIGCONT. */
  resume(): Promise<void>;
  /** The names of those that do not run. */
  findEnded(): readonly string[];
  stop(): Promise<void>;
}

/** Starts `plans`, and resolves when all are ready; each start has a log in `logs`. */
export async function startProcesses(
  plans: readonly ProcessPlan[],
  logs: string,
): Promise<Processes> {
  let starts = 0;
  let records: ProcessRecord[] = [];
  const start = async (plan: ProcessPlan) =>
    (await startProcess(plan, path.join(logs, `${plan.name}-${starts}.log`))).record;
  const startAll = async () => {
    starts++;
    records = await Promise.all(plans.map(start));
    await Promise.all(records.map((record) => waitUntilReady(record)));
  };
  // To the process group: nginx has workers, which hold its port.
  const signalAll = (signal: NodeJS.Signals) => {
    for (const record of records) if (isRunning(record)) process.kill(-record.pid, signal);
  };
  try {
    await startAll();
  } catch (error) {
    await stopAll(records);
    throw error;
  }
  return {
    async kill() {
      signalAll('SIGKILL');
      await stopAll(records);
    },
    restart: startAll,
    pause: async () => signalAll('SIGSTOP'),
    resume: async () => signalAll('SIGCONT'),
    findEnded: () => records.filter((record) => !isRunning(record)).map(({ name }) => name),
    stop: () => stopAll(records),
  };
}

async function stopAll(records: readonly ProcessRecord[]): Promise<void> {
  await Promise.all(records.map((record) => stopProcess(record, 2_000)));
}
