import { setTimeout as sleep } from 'node:timers/promises';

import type { Client } from './client.ts';
import type { System } from './system.ts';

export const FAULT_KINDS = [
  'kill replica',
  'kill all replicas',
  'kill PostgreSQL',
  'partition',
  'reset',
] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];
export type FaultCounts = Readonly<Partial<Record<FaultKind, number>>>;

/** A fault that ends by itself. */
interface Fault {
  readonly kind: FaultKind;
  run(): Promise<void>;
}

/** The state of a run. */
export interface Progress {
  operations: number;
  /** How many times every fault was injected. */
  rounds: number;
  isOver: boolean;
}

export interface FaultOptions {
  /** Number of operations between the end of a fault and the next one. */
  readonly every: number;
  /** Default: all that the system can have. */
  readonly kinds?: readonly FaultKind[];
}

/** The longest pause, in milliseconds: clients and services give up after one second. */
const MAX_PAUSE_MS = 2_000;

/** Injects the faults in turn until the run is over; resolves with their number. */
export async function injectFaults(
  system: System,
  client: Client,
  { every, kinds = FAULT_KINDS, progress }: FaultOptions & { readonly progress: Progress },
): Promise<FaultCounts> {
  const faults = faultsOf(system, client).filter(({ kind }) => kinds.includes(kind));
  const counts: Partial<Record<FaultKind, number>> = {};
  for (;;) {
    for (const { kind, run } of faults) {
      const next = progress.operations + every;
      while (progress.operations < next && !progress.isOver) await sleep(10);
      if (progress.isOver) return counts;
      await run();
      counts[kind] = (counts[kind] ?? 0) + 1;
    }
    progress.rounds++;
  }
}

function faultsOf({ replicas, database }: System, client: Client): Fault[] {
  const ofReplicas = replicas.flatMap((replica): Fault[] => [
    { kind: 'kill replica', run: () => during(replica.kill, replica.restart) },
    // To all others, a suspended process looks like one behind a network that loses packets.
    { kind: 'partition', run: () => during(replica.pause, replica.resume) },
    { kind: 'reset', run: async () => client.reset() },
  ]);
  const all = (change: 'kill' | 'restart') => () =>
    Promise.all(replicas.map((replica) => replica[change]()));
  const common: Fault[] = [
    ...ofReplicas,
    // Only then does the next process recover the files of SQLite.
    { kind: 'kill all replicas', run: () => during(all('kill'), all('restart')) },
  ];
  if (!database) return common;
  const { server, proxy } = database;
  return [
    ...common,
    { kind: 'kill PostgreSQL', run: () => during(server.kill, server.restart) },
    { kind: 'partition', run: () => during(server.pause, server.resume) },
    { kind: 'partition', run: () => during(proxy.refuse, proxy.heal) },
    // Statements take effect, but their results arrive after the time-out of the service.
    { kind: 'partition', run: () => during(() => proxy.delay(2 * MAX_PAUSE_MS), proxy.heal) },
  ];
}

async function during(begin: () => unknown, end: () => unknown): Promise<void> {
  await begin();
  await sleep(Math.random() * MAX_PAUSE_MS);
  await end();
}
