import { setTimeout as sleep } from 'node:timers/promises';

import type { Client } from './client.ts';
import type { System } from './system.ts';

export type FaultKind = 'kill' | 'partition' | 'reset';
export type FaultCounts = Record<FaultKind, number>;

const NO_FAULTS: Readonly<FaultCounts> = { kill: 0, partition: 0, reset: 0 };

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

/** The longest pause, in milliseconds: clients and services give up after one second. */
const MAX_PAUSE_MS = 2_000;

/**
 * Injects all faults of the system in turn, each `every` operations after the end of the one before, until
 * the run is over; resolves with their number.
 */
export async function injectFaults(
  system: System,
  client: Client,
  { every, progress }: { readonly every: number; readonly progress: Progress },
): Promise<FaultCounts> {
  const counts = { ...NO_FAULTS };
  for (;;) {
    for (const { kind, run } of faultsOf(system, client)) {
      const next = progress.operations + every;
      while (progress.operations < next && !progress.isOver) await sleep(10);
      if (progress.isOver) return counts;
      await run();
      counts[kind]++;
    }
    progress.rounds++;
  }
}

function faultsOf({ replicas, database }: System, client: Client): Fault[] {
  const ofReplicas = replicas.flatMap((replica): Fault[] => [
    { kind: 'kill', run: () => during(replica.kill, replica.restart) },
    // To all others, a suspended process looks like one behind a network that loses packets.
    { kind: 'partition', run: () => during(replica.pause, replica.resume) },
    { kind: 'reset', run: async () => client.reset() },
  ]);
  if (!database) return ofReplicas;
  const { server, link } = database;
  return [
    ...ofReplicas,
    { kind: 'kill', run: () => during(server.kill, server.restart) },
    { kind: 'partition', run: () => during(server.pause, server.resume) },
    { kind: 'partition', run: () => during(link.cut, link.restore) },
    { kind: 'partition', run: () => during(link.hang, link.restore) },
  ];
}

async function during(begin: () => unknown, end: () => unknown): Promise<void> {
  await begin();
  await sleep(Math.random() * MAX_PAUSE_MS);
  await end();
}
